package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// purposes are the kinds of tasks in the order in which people need them.
var purposes = []struct{ name, title string }{
	{"install", "Install"}, {"build", "Build"}, {"run", "Run"}, {"test", "Test"}, {"check", "Check"}, {"other", "Other"},
}

func (w *writer) tasks(string) {
	var b strings.Builder
	for _, purpose := range purposes {
		var commands []string
		for _, m := range w.manifests {
			for _, t := range m.Tasks {
				if t.What != purpose.name || w.covered(m, t) {
					continue
				}
				command := span(t.Command)
				if d := m.dir(); d != "" {
					command += " in " + span(d+"/")
				}
				if !slices.Contains(commands, command) {
					commands = append(commands, command)
				}
			}
		}
		if len(commands) == 0 {
			continue
		}
		more := ""
		if n := len(commands) - mostTasks; n > 0 {
			commands, more = commands[:mostTasks], fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", purpose.title, strings.Join(commands, ", "), more)
	}
	if b.Len() == 0 {
		if slices.ContainsFunc(w.files, Code) {
			w.miss("how to build and run it: no manifest that I know says it")
		}
		return
	}
	w.section("Build, run, test")
	w.f("%s", b.String())
}

// covered reports whether a task of a part of the project is done by the same command at its top.
func (w *writer) covered(part Manifest, t Task) bool {
	if part.dir() == "" || t.What != "install" && !strings.HasPrefix(t.Command, "cargo ") {
		return false
	}
	return slices.ContainsFunc(w.manifests, func(m Manifest) bool { return m.dir() == "" && slices.Contains(m.Tasks, t) })
}

func (w *writer) dependencies(string) {
	var b strings.Builder
	for _, m := range w.manifests {
		if len(m.Members) > 0 {
			fmt.Fprintf(&b, "- %s joins %s\n", span(m.Path), spans(m.Members[:min(len(m.Members), mostDeps)]))
		}
		if len(m.Deps) == 0 && m.DevDeps == 0 {
			continue
		}
		deps := "none at run time"
		if len(m.Deps) > 0 {
			deps = spans(m.Deps[:min(len(m.Deps), mostDeps)])
		}
		if n := len(m.Deps) - mostDeps; n > 0 {
			deps += fmt.Sprintf(" and %d more", n)
		}
		if m.DevDeps > 0 {
			deps += fmt.Sprintf("; %d for development", m.DevDeps)
		}
		fmt.Fprintf(&b, "- %s: %s\n", span(m.Path), deps)
	}
	if b.Len() > 0 {
		w.section("Dependencies")
		w.f("%s", b.String())
	}
}

func (w *writer) notes(string) {
	notes := slices.DeleteFunc(slices.Clone(w.p.Notes), func(n Note) bool { return foreign(n.Path) })
	if len(notes) == 0 {
		return
	}
	w.section("Open TODOs")
	number := count(len(notes), "note", "notes")
	if w.p.MoreNotes {
		number = "more than " + number
	}
	w.f("%s%s.", strings.ToUpper(number[:1]), number[1:])
	if len(notes) > mostNotes {
		w.f(" The first %d:", mostNotes)
	}
	w.f("\n\n")
	for _, n := range notes[:min(len(notes), mostNotes)] {
		w.f("- %s: %s\n", span(fmt.Sprintf("%s:%d", n.Path, n.Line)), span(short(n.Text, 120)))
	}
}

func (w *writer) history(string) {
	if len(w.p.History) == 0 {
		return
	}
	w.section("Recent history")
	for _, h := range w.p.History[:min(len(w.p.History), mostHistory)] {
		w.f("- %s\n", plain(short(h, 160)))
	}
}

func (w *writer) gaps(string) {
	all := append(slices.Clone(w.missing), w.p.Gaps...)
	if len(w.files) > 0 {
		all = append(all, "what the code does inside: this overview was made by rules, from names, manifests and the README")
	}
	if len(all) == 0 {
		return
	}
	w.section("What I could not find out")
	for _, g := range all {
		w.f("- %s\n", g)
	}
}

var tagOpening = lazy.Compile(`<([A-Za-z/!?])`)

// plain makes foreign text safe to stand in a paragraph: on one line, without tags of its own.
func plain(s string) string {
	return tagOpening.ReplaceAllString(strings.Join(strings.Fields(s), " "), "‹$1")
}

// span puts a name into a code span that nothing in it can end.
func span(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if strings.Contains(s, "`") {
		return "`` " + strings.ReplaceAll(s, "``", "`\u200b`") + " ``"
	}
	return "`" + s + "`"
}

func spans(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = span(n)
		if n == "…" {
			out[i] = n
		}
	}
	return strings.Join(out, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
