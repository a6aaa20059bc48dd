package rules

import (
	"io/fs"
	"regexp"
)

// testCommand is the whole test command: for people, for `make test` and for CI.
const testCommand = "go test ./..."

// testCommandIn says how each file gives the command.
var testCommandIn = []struct {
	file string
	re   *regexp.Regexp
}{
	{".ci/run", regexp.MustCompile(`(?m)^step "[^"]*" go test \./\.\.\.$`)},
	{"AGENTS.md", regexp.MustCompile(`\bgo test \./\.\.\.`)},
	{"Makefile", regexp.MustCompile(`(?m)^test:.*\n\tgo test \./\.\.\.\n(?:[^\t]|$)`)},
	{"README.md", regexp.MustCompile(`(?m)^\s*(?:\$ )?go test \./\.\.\.\s*(?:#.*)?$`)},
}

var commandRules = []rule{{
	name:  "there is one test command",
	files: true,
	check: otherCommands,
	fix: "the README gives `" + testCommand + "` on a line of its own in a code block, make test and .ci/run call exactly it, " +
		"and it needs nothing but Go and git",
	broken: map[string]string{
		".ci/run":   "step \"Tests\" go test -short ./...\n",
		"AGENTS.md": "Run `go test ./...`.",
		"Makefile":  "test:\n\tgo test ./...\n\tgo vet ./...\n",
		"README.md": "    go test ./...   # 40 s\n",
	},
	want: []string{".ci/run", "Makefile"},
}}

func otherCommands(t *tree) (found []string) {
	for _, want := range testCommandIn {
		text, err := fs.ReadFile(t.fsys, want.file)
		if err != nil || !want.re.Match(text) {
			found = append(found, want.file)
		}
	}
	return found
}
