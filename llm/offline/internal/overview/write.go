package overview

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	mostDeps    = 12
	mostEntries = 8
	mostTasks   = 6 // for each purpose
	mostNotes   = 10
	mostHistory = 10
)

// Write returns the overview in Markdown. name is what to call the project when nothing in it says its name.
func (p *Project) Write(name string) string {
	w := &writer{p: p, files: p.own(), manifests: p.manifests()}
	for _, section := range []func(name string){
		w.head, w.languages, w.layout, w.tasks, w.entries, w.dependencies, w.tests, w.pipelines, w.notes, w.history, w.gaps,
	} {
		section(name)
	}
	return strings.TrimSpace(w.b.String()) + "\n"
}

type writer struct {
	p         *Project
	files     []string
	manifests []Manifest
	b         strings.Builder
	missing   []string
}

func (w *writer) f(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *writer) section(title string) { w.f("\n## %s\n\n", title) }

// miss adds something that could not be found out.
func (w *writer) miss(s string) { w.missing = append(w.missing, s) }

func (w *writer) head(name string) {
	title, purpose := w.readme()
	for _, m := range w.manifests {
		if m.dir() != "" {
			continue
		}
		if title == "" && m.Name != "" {
			title = path.Base(m.Name)
		}
		if purpose == "" {
			purpose = m.Purpose
		}
	}
	if title == "" {
		title = name
	}
	w.f("# %s\n", plain(title))
	switch {
	case purpose != "":
		w.f("\n%s\n", plain(purpose))
	case len(w.p.Files) == 0:
		w.f("\nThe directory is empty, or everything in it is ignored.\n")
	default:
		w.miss("what the project is for: neither a README nor a manifest says it")
	}
	if facts := w.facts(); facts != "" {
		w.f("\n%s\n", facts)
	}
}

func (w *writer) readme() (title, purpose string) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(w.p.Texts)), func(n string) bool { return !isReadme(n) || strings.Contains(n, "/") })
	slices.SortStableFunc(names, func(a, b string) int { return readmeRank(a) - readmeRank(b) })
	if len(names) == 0 {
		return "", ""
	}
	return readme(w.p.Texts[names[0]])
}

// facts is one sentence: what kind of project this is, and how large.
func (w *writer) facts() string {
	if len(w.p.Files) == 0 {
		return ""
	}
	var kinds []string
	for _, m := range w.manifests {
		if m.dir() != "" || m.Kind == "Makefile" || m.Kind == "Dockerfile" || m.Kind == "justfile" {
			continue
		}
		kind := m.Kind
		if m.Name != "" {
			kind += " " + span(m.Name)
		}
		if m.Needs != "" {
			kind += " (" + plain(m.Needs) + ")"
		}
		kinds = append(kinds, kind)
	}
	size := count(w.size(), "file", "files")
	if s := w.p.whole(); len(s) > 0 {
		size += ", " + mainly(s)
	}
	if len(kinds) == 0 {
		return strings.ToUpper(size[:1]) + size[1:] + "."
	}
	return strings.Join(kinds, ", ") + "; " + size + "."
}

// size is how many files the project has, without those of others when all names are known.
func (w *writer) size() int {
	if w.p.Large() {
		return w.p.Total
	}
	return len(w.files)
}

// mainly says in a few words what the files are written in.
func mainly(shares []share) string {
	code := slices.DeleteFunc(slices.Clone(shares), func(s share) bool { return prose[s.Language] })
	total := 0
	for _, s := range code {
		total += s.Files
	}
	switch {
	case total == 0:
		return "no source code"
	case len(code) == 1:
		return "written in " + code[0].Language
	case code[0].Files*2 > total:
		return "mostly " + code[0].Language
	}
	names := make([]string, 0, 3)
	for _, s := range code[:min(len(code), 3)] {
		names = append(names, s.Language)
	}
	return "in " + strings.Join(names, ", ") + map[bool]string{true: " and others"}[len(code) > 3]
}

func (w *writer) languages(string) {
	shares := w.p.whole()
	if len(shares) == 0 {
		return
	}
	counted := slices.ContainsFunc(shares, func(s share) bool { return s.Counted > 0 })
	guessed := false
	w.section("Languages")
	if counted {
		w.f("| Language | Files | Lines |\n|---|---:|---:|\n")
	} else {
		w.f("| Language | Files |\n|---|---:|\n")
	}
	for _, s := range shares[:min(len(shares), 12)] {
		if s.Partly {
			w.f("| %s | at least %d |", s.Language, s.Files)
		} else {
			w.f("| %s | %d |", s.Language, s.Files)
		}
		switch lines, exact := s.estimate(); {
		case !counted:
		case exact:
			w.f(" %d |", lines)
		case lines == 0:
			w.f(" |")
		default:
			guessed = true
			w.f(" about %d |", lines)
		}
		w.f("\n")
	}
	if guessed {
		w.f("\nNumbers with \"about\" are estimated from %s.\n", count(len(w.p.Lines), "file", "files"))
	}
}

func (w *writer) layout(string) {
	dirs, more := w.p.layout()
	if len(dirs) == 0 {
		return
	}
	w.section("Layout")
	for _, d := range dirs {
		about := count(d.Files, "file", "files")
		if d.Main != "" {
			about += ", mostly " + d.Main
		}
		if d.About != "" {
			about = d.About + " (" + about + ")"
		}
		w.f("- %s: %s", span(d.Name+"/"), about)
		if len(d.Below) > 0 {
			w.f("; in it %s", spans(d.Below))
		}
		w.f("\n")
	}
	if more > 0 {
		w.f("- and %s\n", count(more, "smaller directory", "smaller directories"))
	}
}

func (w *writer) entries(string) {
	var found []string
	seen := map[string]bool{}
	for _, m := range w.manifests {
		found = append(found, m.Entries...)
	}
	for _, f := range entries(w.files) {
		if s := span(f); !seen[s] && !slices.ContainsFunc(found, func(e string) bool { return strings.HasPrefix(e, s) }) {
			seen[s] = true
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return
	}
	w.section("Entry points")
	for _, e := range found[:min(len(found), mostEntries)] {
		w.f("- %s\n", e)
	}
	if n := len(found) - mostEntries; n > 0 {
		w.f("- and %d more\n", n)
	}
}

func (w *writer) tests(string) {
	dirs := map[string]int{}
	total := 0
	for _, f := range w.files {
		if isTest(f) {
			total++
			dirs[path.Dir(f)]++
		}
	}
	if total == 0 {
		if slices.ContainsFunc(w.files, Code) {
			w.miss("tests: no file is named like one")
		}
		return
	}
	w.section("Tests")
	names := slices.Collect(maps.Keys(dirs))
	slices.SortFunc(names, func(a, b string) int {
		if d := dirs[b] - dirs[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var where []string
	for _, d := range names[:min(len(names), 6)] {
		label := span(d + "/")
		if d == "." {
			label = "the top directory"
		}
		where = append(where, fmt.Sprintf("%s (%d)", label, dirs[d]))
	}
	number := count(total, "file", "files")
	if w.p.Large() {
		number = "At least " + number
	}
	w.f("%s, in %s", number, strings.Join(where, ", "))
	if n := len(names) - 6; n > 0 {
		w.f(" and %s", count(n, "more directory", "more directories"))
	}
	w.f(".\n")
}

func (w *writer) pipelines(string) {
	if found := pipelines(w.files); len(found) > 0 {
		w.section("Continuous integration")
		w.f("%s\n", spans(found[:min(len(found), 8)]))
	}
}
