package lsp_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool/lsp"
)

// real returns the entry of a server, and skips the test where it is not installed.
func real(t testing.TB, name string) lsp.Spec {
	t.Helper()
	all := lsp.Known()
	spec := all[slices.IndexFunc(all, func(s lsp.Spec) bool { return s.Name == name })]
	if _, err := exec.LookPath(spec.Command); err != nil {
		t.Skipf("%s is not installed; to install it: %s", name, spec.Install)
	}
	return spec
}

// language is a project with a function in one file and its caller in another.
type language struct {
	server       string
	files        map[string]string
	callee       string // the file of the function
	caller       string
	before       string // in the callee
	after        string // breaks the caller
	broken       string // breaks the callee itself
	ours, theirs string // parts of the reports
	name         string
	renamed      string
	shallow      bool // the server reports only about files that are open
}

var languages = []language{
	{
		server: "gopls", callee: "greet/greet.go", caller: "main.go", name: "Greet", renamed: "Salute",
		files: map[string]string{
			"go.mod":         "module example.com/hello\n\ngo 1.21\n",
			"greet/greet.go": "package greet\n\n// Greet greets.\nfunc Greet(name string) string { return \"Hello, \" + name }\n",
			"main.go":        "package main\n\nimport \"example.com/hello/greet\"\n\nfunc main() { println(greet.Greet(\"you\")) }\n",
		},
		before: "name string", after: "name string, loud bool", broken: "name int",
		ours: "1 new problem in greet/greet.go:\n4:", theirs: "gopls: 1 new problem in other files: main.go (1)",
	},
	{
		server: "typescript-language-server", callee: "greet.ts", caller: "main.ts", name: "greet", renamed: "salute",
		files: map[string]string{
			"package.json":  `{"name": "hello"}`,
			"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler", "noEmit": true}}`,
			"greet.ts":      "export function greet(name: string): string { return 'Hello, ' + name }\n",
			"main.ts":       "import { greet } from './greet'\n\nconsole.log(greet('you'))\n",
		},
		before: "(name: string)", after: "(name: string, loud: boolean)", broken: "(name: strin)",
		ours: "1 new problem in greet.ts:\n1:29 error: Cannot find name 'strin'", theirs: "1 new problem in other files: main.ts (1)",
	},
	{
		server: "pyright", callee: "greet.py", caller: "main.py", name: "greet", renamed: "salute",
		files: map[string]string{
			"pyproject.toml": "[project]\nname = \"hello\"\nversion = \"1\"\n",
			"greet.py":       "def greet(name: str) -> str:\n    return \"Hello, \" + name\n",
			"main.py":        "from greet import greet\n\nprint(greet(\"you\"))\n",
		},
		before: "(name: str)", after: "(name: str, loud: bool)", broken: "(name: strin)",
		ours: "1 new problem in greet.py:\n1:17 error: \"strin\" is not defined", theirs: "1 new problem in other files: main.py (1)",
	},
	{
		server: "clangd", callee: "greet.h", caller: "main.c", name: "greet", renamed: "salute",
		files: map[string]string{
			"compile_flags.txt": "-Wall\n",
			"greet.h":           "#pragma once\n\nconst char *greet(const char *name);\n",
			"main.c":            "#include \"greet.h\"\n\nint main(void) { return *greet(\"you\"); }\n",
		},
		before: "(const char *name)", after: "(const char *name, int loud)", broken: "(const chr *name)",
		ours: "1 new problem in greet.h:\n3:25 error: ", theirs: "1 new problem in other files: main.c (1)", shallow: true,
	},
}

func TestAnEditReportsWhatItBrokeInTheFileAndElsewhere(t *testing.T) {
	for _, l := range languages {
		t.Run(l.server, func(t *testing.T) {
			spec := real(t, l.server)
			p := project(t, l.files, spec)
			p.call("diagnostics", map[string]any{"path": l.callee}) // the server is warm
			if l.shallow {
				p.call("diagnostics", map[string]any{"path": l.caller})
			}
			if text := p.edit(l.callee, l.before, l.broken); !strings.Contains(text, l.ours) {
				t.Errorf("an edit with a mistake: %q, want %q", text, l.ours)
			}
			if text := p.edit(l.callee, l.broken, l.before); text != "" {
				t.Errorf("an edit without a mistake: %q", text)
			}
			if text := p.edit(l.callee, l.before, l.after); !strings.Contains(text, l.theirs) || strings.Contains(text, l.callee) {
				t.Errorf("an edit that breaks a caller: %q, want %q", text, l.theirs)
			}
		})
	}
}

func TestTheFirstEditReportsACallerThatItBroke(t *testing.T) {
	for _, l := range languages {
		t.Run(l.server, func(t *testing.T) {
			if l.shallow {
				t.Skip("the server does not know the caller yet")
			}
			p := project(t, l.files, real(t, l.server))
			if text, want := p.edit(l.callee, l.before, l.after), "1 problem in other files: "+l.caller+" (1), which may be older"; !strings.Contains(text, want) {
				t.Errorf("the report is %q, want %q", text, want)
			}
		})
	}
}

// A server that has just started has not looked at the project yet.
func TestTheFirstQuestionAboutAProjectWaitsForTheServer(t *testing.T) {
	for _, l := range languages {
		t.Run(l.server, func(t *testing.T) {
			if l.shallow {
				t.Skip("the server reports only about files that are open")
			}
			spec, files := real(t, l.server), maps.Clone(l.files)
			files[l.callee] = strings.Replace(files[l.callee], l.before, l.after, 1)
			for range 5 {
				if text := project(t, files, spec).call("diagnostics", nil); !strings.Contains(text, l.caller+":\n") {
					t.Errorf("got %q, want a problem in %s", text, l.caller)
				}
			}
		})
	}
}

func TestAServerAnswersAboutSymbols(t *testing.T) {
	for _, l := range languages {
		t.Run(l.server, func(t *testing.T) {
			spec := real(t, l.server)
			p := project(t, l.files, spec)
			at := func(more map[string]any) map[string]any {
				args := map[string]any{"path": l.caller, "name": l.name}
				for k, v := range more {
					args[k] = v
				}
				return args
			}
			line := 1 + strings.Count(l.files[l.caller][:strings.LastIndex(l.files[l.caller], l.name+"(")], "\n")
			for _, c := range []struct {
				action string
				args   map[string]any
				want   string
			}{
				{"definition", at(map[string]any{"line": line}), l.callee + ":\n"},
				{"hover", at(map[string]any{"line": line}), l.name},
				{"references", map[string]any{"path": l.callee, "name": l.name}, l.caller + ":\n"},
				{"symbols", map[string]any{"path": l.callee}, "function " + l.name},
				{"symbols", map[string]any{"name": l.name}, l.callee + ":"},
				{"diagnostics", map[string]any{"path": l.caller}, "no errors or warnings"},
			} {
				if text := p.call(c.action, c.args); !strings.Contains(text, c.want) {
					t.Errorf("%s %v: %q, want %q", c.action, c.args, text, c.want)
				}
			}
			p.call("rename", at(map[string]any{"line": line, "new_name": l.renamed}))
			for _, name := range []string{l.callee, l.caller} {
				if data, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || !strings.Contains(string(data), l.renamed) {
					t.Errorf("%s after the rename: %q, %v", name, data, err)
				}
			}
		})
	}
}
