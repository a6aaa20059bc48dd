package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// module is the import path of the project.
const module = "github.com/tenon-agent/tenon/"

// house is the figures of the module.
type house struct {
	lines, files, comments int // of product code
	support, tests         int // lines of test support and of tests
	methods                map[string]int
	docs                   map[string]int // lines of go doc -short by public package
	sizes                  map[string]int // lines by file of product code
	imports                int
	upward                 []string
	unlisted               map[string]bool // packages of product code that are in no level
}

// levels are the packages of product code from the bottom to the top. A package may import packages of its own level and below. An exact
// name comes before a pattern, and the first row before others. The table of internal/rules is stricter.
var levels = [][]string{
	{"internal/frontmatter", "internal/markup", "internal/spelling", "internal/state", "internal/term"},
	{"llm", "llm/...", "internal/highlight", "internal/markdown", "internal/tui/keys", "internal/tui/picture", "internal/tui/theme", "workspace/host", "workspace/path", "workspace/sandbox", "workspace/gitdir", "workspace/contents", "permission/command"},
	{"tool", "session", "session/...", "budget", "redact", "window/tokens", "workspace", "workspace/...", "internal/slash"},
	{"window", "window/...", "permission", "tool/...", "transcript"},
	{"agent", "models", "tool/family"},
	{"approval", "guidance", "team", "team/goal", "team/parallel", "team/role", "undo", "internal/undo", "internal/models", "internal/keys", "internal/config", "internal/export", "internal/hooks", "internal/ledger", "internal/transfer", "internal/activity"},
	{"conversation", "internal/attach", "internal/app", "internal/tui/list", "internal/tui/diff", "internal/tui/complete"},
	{"internal/cli/command", "internal/tui/card", "internal/tui/editor"},
	{"internal/cli/agents", "internal/cli/run", "internal/cli/undo", "internal/cli/stats", "internal/cli/models", "internal/tui/dialog"},
	{"internal/tui"},
	{"internal/cli/..."},
	{"internal/cli"},
	{"cmd/...", "examples/...", "internal/e2e", "internal/rules", "internal/rules/..."},
}

// measure reads the Go code below root.
func measure(root string) (*house, error) {
	h := &house{methods: map[string]int{}, docs: map[string]int{}, sizes: map[string]int{}, unlisted: map[string]bool{}}
	public := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			return enter(root, rel, d.Name())
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		if !isTest(rel) && isPublic(path.Dir(rel)) {
			public[path.Dir(rel)] = true
		}
		return h.file(name, rel)
	})
	if err != nil {
		return nil, err
	}
	for dir := range public {
		n, err := docLines(root, dir)
		if err != nil {
			return nil, err
		}
		h.docs[dir] = n
	}
	return h, nil
}

// enter skips directories that are not part of the module.
func enter(root, rel, name string) error {
	if rel == "." {
		return nil
	}
	_, err := os.Stat(filepath.Join(root, rel, "go.mod"))
	if err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	return nil
}

func isTest(rel string) bool { return strings.HasSuffix(rel, "_test.go") }

// forTests reports whether a package exists for tests, as its place or its name says: internal/testkit, llmtest, storetest, and these rules.
// internal/evals counts as one: it measures the built program from outside, and no part of it is shipped.
func forTests(dir string) bool {
	return strings.HasPrefix(dir, "internal/testkit/") || dir == "internal/evals" || strings.HasPrefix(dir, "internal/rules") || strings.HasSuffix(dir, "test")
}

// isPublic reports whether other programs import a package.
func isPublic(dir string) bool {
	first, _, _ := strings.Cut(dir, "/")
	return first != "." && first != "cmd" && first != "examples" && !strings.Contains("/"+dir+"/", "/internal/")
}

// file adds a file to the figures.
func (h *house) file(name, rel string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := bytes.Count(text, []byte("\n"))
	switch {
	case isTest(rel):
		h.tests += lines
		return nil
	case forTests(path.Dir(rel)):
		h.support += lines
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	h.files++
	h.lines += lines
	h.sizes[rel] = lines
	for _, group := range f.Comments {
		h.comments += fset.Position(group.End()).Line - fset.Position(group.Pos()).Line + 1
	}
	dir := path.Dir(rel)
	if level(dir) < 0 {
		h.unlisted[dir] = true
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			h.methods[dir+"."+receiver(fn.Recv.List[0].Type)]++
		}
	}
	for _, spec := range f.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if to, ours := strings.CutPrefix(to, module); ours {
			h.imports++
			if level(to) > level(dir) {
				h.upward = append(h.upward, fmt.Sprintf("%s imports %s", rel, to))
			}
		}
	}
	return nil
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// level returns the row of levels for a package; -1 if it is in none.
func level(dir string) int {
	for i, row := range levels {
		for _, name := range row {
			if name == dir {
				return i
			}
		}
	}
	for i, row := range levels {
		for _, name := range row {
			if base, ok := strings.CutSuffix(name, "/..."); ok && strings.HasPrefix(dir, base+"/") {
				return i
			}
		}
	}
	return -1
}

// docLines counts the lines that go doc -short prints about a package.
func docLines(root, dir string) (int, error) {
	cmd := exec.Command("go", "doc", "-short", "./"+dir)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("go doc -short ./%s: %w", dir, err)
	}
	return bytes.Count(out, []byte("\n")), nil
}
