package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// place is a row of the table of who may import whom. Patterns are import paths below the module: "llm/*" is every
// package directly below llm, "internal/cli/..." is internal/cli and everything below it, "public" is all that is API.
type place struct {
	path string
	may  []string // the packages of ours that its code, tests apart, may import
	face bool     // something that people see; faces do not import each other
	leaf string   // why an internal package may be imported by all: a small helper that imports nothing of ours
}

// places is the table. The first row that fits a package holds for it. A change that adds a package adds its row. The private
// parts of a room, below its own directory internal, are in its place.
var places = []place{
	{path: "llm"},
	{path: "llm/wire", may: []string{"llm"}},
	{path: "llm/fit", may: []string{"llm"}},
	{path: "llm/*", may: []string{"llm", "llm/wire", "llm/fit"}},
	{path: "tool", may: []string{"llm", "workspace/path"}},
	{path: "tool/family", may: []string{"llm", "models"}},
	{path: "tool/mcp", may: []string{"tool", "llm"}},
	{path: "tool/lsp", may: []string{"tool", "tool/files", "llm", "workspace", "workspace/path", "workspace/sandbox"}},
	{path: "tool/*", may: []string{"tool", "llm", "workspace", "workspace/contents", "workspace/host", "workspace/path"}},
	{path: "session/ask"},
	{path: "session/live", may: []string{"llm", "session/internal/place"}},
	{path: "session", may: []string{"llm", "session/ask", "session/live", "session/internal/place"}},
	{path: "session/view", may: []string{"llm", "session", "session/ask"}},
	{path: "session/request", may: []string{"llm", "session", "session/ask"}},
	{path: "session/search", may: []string{"llm", "session", "session/ask"}},
	{path: "session/index", may: []string{"llm", "session", "session/live", "session/search", "session/view"}},
	{path: "session/*", may: []string{"llm", "session", "session/ask", "session/index", "session/live", "session/search", "session/view"}},
	{path: "window/tokens", may: []string{"llm"}},
	{path: "window/compact", may: []string{"llm", "session", "window", "window/internal/excerpt", "window/tokens"}},
	{path: "window", may: []string{"llm", "session", "session/live", "session/view", "window/tokens"}},
	{path: "permission/command", may: []string{"workspace/path"}},
	{path: "permission", may: []string{"llm", "tool", "permission/command", "workspace/gitdir", "workspace/host", "workspace/path"}},
	{path: "workspace/path"},
	{path: "workspace/host"},
	{path: "workspace/sandbox", may: []string{"workspace/host", "workspace/path"}},
	{path: "workspace/gitdir", may: []string{"workspace/path"}},
	{path: "workspace/worktree", may: []string{"workspace", "workspace/contents", "workspace/path"}},
	{path: "workspace", may: []string{"workspace/contents", "workspace/gitdir", "workspace/path", "workspace/sandbox"}},
	{path: "workspace/*"},
	{path: "budget", may: []string{"llm"}},
	{path: "agent", may: []string{"llm", "tool", "session", "session/ask", "session/live", "session/request", "session/view", "session/index", "window", "budget"}},
	{path: "team", may: []string{"agent", "budget", "llm", "session", "session/index", "session/live", "session/request", "session/view", "tool", "workspace/path"}},
	{path: "team/goal", may: []string{"agent", "llm", "session"}},
	{path: "team/parallel", may: []string{"agent", "llm", "session"}},
	{path: "team/role", may: []string{"llm", "permission"}},
	{path: "models", may: []string{"llm", "llm/...", "redact"}},
	{path: "undo", may: []string{"llm", "session", "session/view", "session/index", "tool", "workspace", "workspace/..."}},
	{path: "conversation", may: []string{"public"}},
	{path: "redact", may: []string{"llm", "tool"}},
	{path: "transcript", may: []string{"llm", "session", "session/live", "session/request", "session/view", "tool"}},
	{path: "guidance", may: []string{"session", "workspace/path"}},
	{path: "approval", may: []string{"agent", "permission", "session", "session/ask", "tool", "workspace/path"}},

	{path: "internal/e2e"},
	{path: "internal/evals"}, // it knows the program only from outside, so that it compares versions
	{path: "internal/app/...", may: []string{"public", "internal/..."}},
	{path: "internal/config/...", may: []string{"budget", "llm", "models", "permission", "redact", "workspace/host"}},
	{path: "internal/cli/chat", may: []string{"public", "internal/..."}}, // it joins the command line and the terminal
	{path: "internal/cli/...", may: []string{"public", "internal/..."}, face: true},
	{path: "internal/slash", may: []string{"internal/frontmatter"}},
	{path: "internal/tui/theme", may: []string{"internal/term"}},
	{path: "internal/tui/keys", may: []string{"internal/spelling"}},
	{path: "internal/tui/list", may: []string{"internal/term", "internal/tui/theme"}},
	{path: "internal/tui/diff", may: []string{"internal/highlight", "internal/term", "internal/tui/theme"}},
	{path: "internal/tui/card", may: []string{"public", "internal/highlight", "internal/markdown", "internal/term", "internal/tui/diff", "internal/tui/list", "internal/tui/theme"}},
	{path: "internal/tui/picture"},
	{path: "internal/tui/complete", may: []string{"internal/term", "internal/tui/theme", "workspace", "workspace/path"}},
	{path: "internal/tui/editor", may: []string{"internal/term", "internal/tui/complete", "internal/tui/keys", "internal/tui/theme"}},
	{path: "internal/tui/dialog", may: []string{"public", "internal/term", "internal/tui/complete", "internal/tui/diff", "internal/tui/editor", "internal/tui/keys", "internal/tui/theme"}},
	{path: "internal/activity", may: []string{"public", "internal/term"}},
	{path: "internal/tui", may: []string{"public", "internal/activity", "internal/markdown", "internal/term", "internal/tui/..."}, face: true},
	{path: "internal/tui/...", may: []string{"public", "internal/..."}, face: true},
	{path: "internal/server/...", may: []string{"public", "internal/..."}, face: true},
	{path: "internal/acp/...", may: []string{"public", "internal/..."}, face: true},
	{path: "internal/web/...", may: []string{"public", "internal/..."}, face: true},
	{path: "internal/attach", may: []string{"public"}},
	{path: "internal/highlight"},
	{path: "internal/hooks"},
	{path: "internal/keys", may: []string{"redact"}},
	{path: "internal/transfer", may: []string{"public"}},
	{path: "internal/export", may: []string{"public", "internal/markdown"}},
	{path: "internal/markdown"},
	{path: "internal/ledger", may: []string{"public"}},
	{path: "internal/rules/..."},
	{path: "internal/markup", leaf: "pages of HTML, written the same way by all writers"},
	{path: "internal/testkit/console", leaf: "a terminal with an emulator, for tests and screenshots"},
	{path: "internal/testkit/mcpconformance", may: []string{"internal/testkit/console", "internal/testkit/modelserver"}},
	{path: "internal/testkit/modelserver", may: []string{"llm", "llm/llmtest"}},
	{path: "internal/testkit/program", leaf: "writes programs that a test runs"},
	{path: "internal/testkit/recorded", may: []string{"llm"}},
	{path: "internal/testkit/sample", leaf: "chooses which cases of a long test run by default"},
	{path: "internal/testkit/screenshots", may: []string{"internal/term", "internal/testkit/modelserver"}},
	{path: "internal/testkit/trees", leaf: "compares whole directories, for tests"},
	{path: "internal/testkit/unprivileged", may: []string{"internal/testkit/program"}},
	{path: "internal/frontmatter", leaf: "the keys at the beginning of Markdown files, of skills, roles and commands alike"},
	{path: "internal/term", leaf: "text that is safe and fits on a terminal, colors and the status line, for every frontend of a terminal"},
	{path: "internal/term/termtest", leaf: "stands in for a terminal, for tests"},
	{path: "internal/state", leaf: "facts that expire, which packages models and internal/app keep for later processes"},
	{path: "internal/spelling", leaf: "the distance between two words, for errors of tools, scripts and commands alike"},

	{path: "cmd/*", may: []string{"public", "internal/..."}},
	{path: "examples/...", may: []string{"public"}},
}

var importRules = []rule{
	{
		name:  "every package has a place",
		check: homeless,
		fix: "add a row to places in internal/rules/imports_test.go that says what the package may import, " +
			"and its room to docs/developers/architecture.md",
		broken: map[string]string{
			"agent/a.go":             "package agent",
			"agent/extra/a.go":       "package extra",
			"internal/app/x/y/a.go":  "package y",
			"internal/odd/a_test.go": "package odd",
		},
		want: []string{"agent/extra", "internal/odd"},
	},
	{
		name:  "packages import only what they may",
		check: trespass,
		fix: "declare an interface where it is used, or move the code to the room that it belongs to; " +
			"the table is places in internal/rules/imports_test.go",
		broken: map[string]string{
			"agent/a.go":        importing("agent", "llm", "window", "session/sqlite"),
			"agent/a_test.go":   importing("agent", "session/memory"),
			"llm/x/a.go":        importing("x", "llm", "llm/y"),
			"tool/x/a.go":       importing("x", "workspace", "internal/cli"),
			"internal/app/a.go": importing("app", "agent", "internal/config/x"),
			"examples/x/a.go":   importing("main", "agent", "internal/app"),
			"tool/y/a.go":       importing("y", "tool/y/internal/z"),

			"tool/y/internal/z/a.go": importing("z", "tool", "session", "tool/y/internal/v"),
		},
		want: []string{
			"agent/a.go imports session/sqlite", "examples/x/a.go imports internal/app",
			"llm/x/a.go imports llm/y", "tool/x/a.go imports internal/cli",
			"tool/y/internal/z/a.go imports session",
		},
	},
	{
		name:  "no face imports another",
		check: facing,
		fix:   "move the code that two faces share to a package below them, such as internal/app",
		broken: map[string]string{
			"internal/cli/a.go":    importing("cli", "internal/tui", "internal/cli/x", "internal/app"),
			"internal/web/x/a.go":  importing("x", "internal/server/y"),
			"internal/app/a.go":    importing("app", "agent"),
			"internal/cli/x/b.go":  importing("x", "internal/cli"),
			"internal/tui/y/b.go":  importing("y"),
			"internal/server/x.go": importing("server", "llm"),
		},
		want: []string{"internal/cli/a.go imports internal/tui", "internal/web/x/a.go imports internal/server/y"},
	},
}

// importing is a Go file for the samples.
func importing(name string, ours ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", name)
	for _, p := range ours {
		fmt.Fprintf(&b, "import _ %q\n", module+"/"+p)
	}
	return b.String()
}

// owner returns the room that a package is a private part of, or the package when it is none.
func owner(dir string) string {
	room, _, _ := strings.Cut(dir, "/internal/")
	return room
}

// placeOf returns the row of the table for a package.
func placeOf(dir string) (place, bool) {
	i := slices.IndexFunc(places, func(p place) bool { return matches(p.path, owner(dir)) })
	if i < 0 {
		return place{}, false
	}
	return places[i], true
}

// matches reports whether a pattern of the table means the package.
func matches(pattern, dir string) bool {
	if pattern == "public" {
		return isPublic(dir)
	}
	if base, below := strings.CutSuffix(pattern, "/..."); below {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	ok, err := path.Match(pattern, dir)
	return ok && err == nil
}

// edges yields every import of one package of ours by the code of another.
func (t *tree) edges(yield func(from *source, to string) bool) {
	for _, r := range t.rooms {
		for _, f := range r.code() {
			for _, imported := range f.imports() {
				to, ours := strings.CutPrefix(imported+"/", module+"/")
				if ours && !yield(f, strings.TrimSuffix(to, "/")) {
					return
				}
			}
		}
	}
}

func homeless(t *tree) (found []string) {
	for _, r := range t.rooms {
		if _, ok := placeOf(r.dir); !ok {
			found = append(found, r.dir)
		}
	}
	return found
}

func trespass(t *tree) (found []string) {
	for f, to := range t.edges {
		dir := path.Dir(f.path)
		p, ok := placeOf(dir)
		target, _ := placeOf(to)
		fits := func(pattern string) bool { return matches(pattern, to) }
		if ok && owner(dir) != owner(to) && target.leaf == "" && !slices.ContainsFunc(p.may, fits) {
			found = append(found, fmt.Sprintf("%s imports %s; %s may import %q", f.path, to, p.path, p.may))
		}
	}
	return found
}

func facing(t *tree) (found []string) {
	for f, to := range t.edges {
		a, _ := placeOf(path.Dir(f.path))
		b, _ := placeOf(to)
		if a.face && b.face && a.path != b.path {
			found = append(found, fmt.Sprintf("%s imports %s", f.path, to))
		}
	}
	return found
}
