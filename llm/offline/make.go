package offline

import (
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// Makers of instructions from the groups of a rule. One that finds that the words do not fit after all returns none, and
// the next rule is tried.

func makeRun(m *masked, g []string) instruction {
	command, quoted := m.value(g[1])
	command = strings.TrimSpace(command)
	if !quoted {
		command = withoutStop(command)
	}
	if command == "" {
		return instruction{}
	}
	return instruction{verb: run, command: command}
}

// withoutStop removes the full stop of a sentence, but not the dot of a path.
func withoutStop(s string) string {
	t, ok := strings.CutSuffix(s, ".")
	if !ok || t == "" || strings.HasSuffix(t, ".") || strings.HasSuffix(t, "/") || strings.HasSuffix(t, " ") {
		return s
	}
	return t
}

func makeCountFiles(m *masked, g []string) instruction {
	in := instruction{verb: countFiles}
	kind := strings.TrimSpace(g[1])
	dir, glob := m.scope(g[3])
	in.path = dir
	switch {
	case g[2] != "":
		in.glob = m.fileGlob(g[2])
	case kind != "":
		if in.glob = anywhere(m.kind(kind)); in.glob == "" {
			return instruction{}
		}
	case glob != "":
		in.glob = anywhere(glob)
	}
	return in
}

var slashed = lazy.Compile(`^/(.+)/$`)

// notes are the marks that people leave in code for later.
var notes = lazy.Compile(`(?i)^(?:todos?|fixmes?|to-?dos?(?:\s*(?:,|/|and|or)\s*fixmes?)?|todos?\s*(?:,|/|and|or)\s*fixmes?)(?:\s+comments?)?$`)

// makeSearch makes a search from the pattern in group 1 and the place in group 2.
func makeSearch(v verb) func(m *masked, g []string) instruction {
	return func(m *masked, g []string) instruction {
		pattern, quoted := m.value(g[1])
		in := instruction{verb: v, pattern: pattern}
		if !quoted {
			in.pattern = strings.TrimRight(strings.TrimSpace(pattern), "?!,;")
			if r := slashed.FindStringSubmatch(in.pattern); r != nil {
				in.pattern, in.regex = r[1], true
			}
			if notes.MatchString(in.pattern) {
				in.pattern, in.regex = `\b(TODO|FIXME)\b`, true
			}
		}
		if strings.TrimSpace(in.pattern) == "" {
			return instruction{}
		}
		in.path, in.glob = m.scope(g[2])
		return in
	}
}

func (m *masked) replacement(old, with, where string) instruction {
	in := instruction{verb: replace}
	in.pattern, _ = m.value(old)
	in.with, _ = m.value(with)
	in.path, in.glob = m.scope(where)
	if in.pattern == "" {
		return instruction{}
	}
	return in
}

func makeAppend(content, file int) func(m *masked, g []string) instruction {
	return func(m *masked, g []string) instruction {
		in := instruction{verb: appendTo, path: m.name(g[file])}
		var quoted bool
		if in.content, quoted = m.value(g[content]); !quoted {
			in.content = m.raw(g[content])
		}
		_, named := m.value(g[file])
		if !named && !isFileLike(in.path) && !isPronoun(in.path) || in.content == "" {
			return instruction{}
		}
		in.content = withNewline(in.content)
		return in
	}
}

func withNewline(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// contentNoise is what stands between "with" and the content itself.
var contentNoise = lazy.Compile(`(?i)^\s*(?:the\s+)?(?:(?:following\s+)?(?:contents?|text|lines?)|following)?\s*(:[ \t]*\n?|\s)`)

func makeWrite(m *masked, g []string) instruction {
	in := instruction{verb: create, path: m.name(g[3])}
	if strings.EqualFold(g[1], "overwrite") {
		in.verb = overwrite
	}
	_, quoted := m.value(g[3])
	if !quoted && g[2] == "" && !isFileLike(in.path) || in.path == "" {
		return instruction{}
	}
	in.content = m.content(g[4] + g[5])
	return in
}

// content is what s, the rest of an instruction, wants in a file: a quote as it is, other text with a newline at its end.
func (m *masked) content(s string) string {
	s = contentNoise.ReplaceAllString(s, "")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	if v, quoted := m.value(s); quoted {
		return v
	}
	return withNewline(strings.TrimRight(m.raw(s), " \t\n"))
}

func makePut(m *masked, g []string) instruction {
	return makeWrite(m, []string{g[0], "write", "", g[2], " " + g[1], ""})
}

func makeFind(m *masked, g []string) instruction {
	in := instruction{verb: find, glob: m.fileGlob(g[1])}
	if in.path, _ = m.scope(g[2]); in.glob == "" {
		return instruction{}
	}
	return in
}

// makeFindOrSearch takes what looks like a file's name for one; the next rules search for the rest.
func makeFindOrSearch(m *masked, g []string) instruction {
	if v, quoted := m.value(g[1]); quoted && !strings.ContainsAny(v, "*") || !isFileLike(strings.TrimRight(v, ".,;!?")) {
		return instruction{}
	}
	return makeFind(m, g)
}

// makeLook reads a file, or lists the files that a pattern or a directory names.
func makeLook(m *masked, g []string) instruction {
	v, quoted := m.value(g[1])
	name := m.place(g[1])
	switch {
	case strings.ContainsAny(name, "*?") && !quoted:
		return instruction{verb: find, glob: anywhere(name)}
	case strings.HasSuffix(name, "/"), name == "":
		return instruction{verb: list, path: name}
	case quoted || isFileLike(name) || isPronoun(v) || isPronoun(name):
		return instruction{verb: read, path: name}
	}
	return instruction{}
}
