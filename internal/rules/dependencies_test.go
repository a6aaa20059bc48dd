package rules

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// dependencyDoc says why each module is there.
const dependencyDoc = "docs/developers/dependencies.md"

var dependencyRules = []rule{
	{
		name:  "every direct dependency is explained",
		check: unexplained,
		fix: "add a row to the table in " + dependencyDoc + " that fits: what for, why this one, licence, cost; " +
			"or do without the module",
		broken: map[string]string{
			"go.mod":                          "module x\nrequire a.org/one v1.0.0 // indirect\nrequire (\n\ta.org/one/two v1.0.0\n\ta.org/far v1.0.0 // indirect\n\ta.org/tool v1.0.0\n)\ntool a.org/tool/cmd/x\n",
			"llm/a.go":                        "package llm\nimport (_ \"fmt\"; _ \"a.org/one/x\"; _ \"a.org/one/two/y\")",
			"llm/b.go":                        "package llm\nimport _ \"b.org/new\"",
			"docs/a.md":                       "nothing",
			"docs/developers/dependencies.md": "## Program\n| Module | For |\n|---|---|\n| `a.org/one` | this |\n",
		},
		want: []string{"a.org/one/two", "a.org/tool", "b.org/new"},
	},
	{
		name:  "nothing is explained that is gone",
		check: gone,
		fix:   "remove the row from " + dependencyDoc + ", and run go mod tidy",
		broken: map[string]string{
			"go.mod":                          "module x\nrequire (\n\ta.org/one v1.0.0\n\ta.org/two v1.0.0 // indirect\n)\n",
			"llm/a.go":                        "package llm\nimport _ \"a.org/one\"",
			"docs/developers/dependencies.md": "## Program\n| `a.org/one` | |\n| `a.org/two` | |\n## Not used\n`a.org/three` was too large.\n",
		},
		want: []string{"a.org/two"},
	},
	{
		name:  "what is for tests stays in tests",
		check: escaped,
		fix:   "use it in _test.go files and in packages named for tests only, or move its row in " + dependencyDoc + " to the program",
		broken: map[string]string{
			"go.mod":                          "module x\nrequire a.org/one v1.0.0\n",
			"llm/a.go":                        "package llm\nimport _ \"a.org/one\"",
			"llm/a_test.go":                   "package llm\nimport _ \"a.org/one\"",
			"llm/llmtest/a.go":                "package llmtest\nimport _ \"a.org/one\"",
			"docs/developers/dependencies.md": "## Tests\n| `a.org/one` | |\n",
		},
		want: []string{"llm/a.go imports a.org/one"},
	},
	{
		name:  "no template looks methods up by name",
		check: templates,
		fix: "write HTML with internal/markup, and text with fmt: one call of a template makes the linker keep every exported method of " +
			"every type in the program, which is 4 MB of tenon",
		broken: map[string]string{
			"llm/a.go":          "package llm\nimport \"html/template\"",
			"cmd/x/a.go":        "package main\nimport t \"text/template\"",
			"cmd/x/b.go":        "package main\nimport \"html\"",
			"llm/a_test.go":     "package llm\nimport \"text/template\"",
			"llm/llmtest/a.go":  "package llmtest\nimport \"text/template/parse\"",
			"internal/x/a.go":   "package x\nimport _ \"text/template/parse\"",
			"examples/one/a.go": "package main\nimport \"text/template\"",
		},
		want: []string{"cmd/x/a.go imports text/template", "examples/one/a.go", "internal/x/a.go", "llm/a.go imports html/template"},
	},
}

// requirements returns the modules and the tools that go.mod names.
func (t *tree) requirements() (modules, tools []string) {
	text, err := fs.ReadFile(t.fsys, "go.mod")
	if err != nil {
		return nil, nil
	}
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case len(words) > 0 && words[0] == ")":
			block = ""
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		switch {
		case len(words) == 3 && words[0] == "require":
			modules = append(modules, words[1])
		case len(words) == 2 && words[0] == "tool":
			tools = append(tools, words[1])
		}
	}
	return modules, tools
}

// moduleOf returns the module that a package belongs to, or the package when none of them has it.
func moduleOf(modules []string, pkg string) string {
	best := ""
	for _, m := range modules {
		if strings.HasPrefix(pkg+"/", m+"/") && len(m) > len(best) {
			best = m
		}
	}
	if best == "" {
		return pkg
	}
	return best
}

// use is the import of a package that is neither ours nor of the standard library.
type use struct {
	room        *room
	file        *source
	pkg, module string
}

func (u use) String() string { return fmt.Sprintf("%s imports %s", u.file.path, u.pkg) }

// uses yields every such import.
func (t *tree) uses(yield func(use) bool) {
	modules, _ := t.requirements()
	for r, f := range t.all {
		for _, pkg := range f.imports() {
			host, _, _ := strings.Cut(pkg, "/")
			ours := strings.HasPrefix(pkg+"/", module+"/")
			if strings.Contains(host, ".") && !ours && !yield(use{r, f, pkg, moduleOf(modules, pkg)}) {
				return
			}
		}
	}
}

// direct returns the modules that our code imports, and those of our tools.
func (t *tree) direct() []string {
	modules, tools := t.requirements()
	set := map[string]bool{}
	for u := range t.uses {
		set[u.module] = true
	}
	for _, tool := range tools {
		set[moduleOf(modules, tool)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

var explanation = regexp.MustCompile("^\\|\\s*`([^`]+)`")

// explained returns the modules that have a row in the document, each with the heading above it.
func (t *tree) explained() map[string]string {
	text, err := fs.ReadFile(t.fsys, dependencyDoc)
	if err != nil {
		return nil
	}
	rows, heading := map[string]string{}, ""
	for _, line := range prose(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(title)
		}
		if m := explanation.FindStringSubmatch(line); m != nil {
			rows[m[1]] = heading
		}
	}
	return rows
}

func unexplained(t *tree) []string {
	rows := t.explained()
	return slices.DeleteFunc(t.direct(), func(m string) bool { _, ok := rows[m]; return ok })
}

func gone(t *tree) []string {
	direct := t.direct()
	rows := slices.Sorted(maps.Keys(t.explained()))
	return slices.DeleteFunc(rows, func(m string) bool { return slices.Contains(direct, m) })
}

func escaped(t *tree) (found []string) {
	rows := t.explained()
	for u := range t.uses {
		if rows[u.module] == "Tests" && !u.file.test && !u.room.forTests() {
			found = append(found, u.String())
		}
	}
	return found
}

func templates(t *tree) (found []string) {
	for r, f := range t.all {
		for _, pkg := range f.imports() {
			if (strings.HasPrefix(pkg+"/", "text/template/") || pkg == "html/template") && !f.test && !r.forTests() {
				found = append(found, fmt.Sprintf("%s imports %s", f.path, pkg))
			}
		}
	}
	return found
}
