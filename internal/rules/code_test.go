package rules

import (
	"fmt"
	"go/ast"
	"strings"
)

// longest is how many lines a file of code may have before it asks for a reason.
const longest = 600

// longFiles are the longer ones, each with the reason why it is one page of one thing.
var longFiles = map[string]string{}

// vague are names that say nothing about what is in a package.
var vague = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true,
	"manager": true, "managers": true, "service": true, "services": true, "misc": true,
}

var codeRules = []rule{
	{
		name:  "nothing happens at init time",
		check: initialisers,
		fix:   "make the value in a constructor or hand it in; an init function works for every program that imports the package",
		broken: map[string]string{
			"llm/a.go":      "package llm\nfunc init() {}\nfunc (t T) init() {}\ntype T int",
			"llm/a_test.go": "package llm\nfunc init() {}",
		},
		want: []string{"llm/a.go:2", "llm/a_test.go:2"},
	},
	{
		name:  "packages are named for what they hold",
		check: vagueNames,
		fix:   "name the package for what it holds or does, or put the code next to its only user",
		broken: map[string]string{
			"llm/util/a.go":     "package util",
			"tool/manager/a.go": "package manage",
			"session/a.go":      "package session",
		},
		want: []string{"llm/util/a.go", "tool/manager/a.go"},
	},
	{
		name:  "a file is a page",
		check: longOnes,
		fix: "split the file by what it is about; if it really is one page of one thing, " +
			"list it with the reason in longFiles in internal/rules/code_test.go",
		broken: map[string]string{
			"llm/a.go":      "package llm\n" + strings.Repeat("\n", longest),
			"llm/b.go":      "package llm\n" + strings.Repeat("\n", longest-1),
			"llm/a_test.go": "package llm\n" + strings.Repeat("\n", 2*longest),
		},
		want: []string{"llm/a.go has 601 lines"},
	},
	{
		name:  "tests do not sleep",
		check: sleeps,
		fix: "wait for the condition: a channel, a closed pipe, the next entry of Watch; " +
			"or test under synctest.Test, where time is not real and sleeping is allowed, also in helpers that only such tests call",
		broken: map[string]string{
			"llm/a.go": "package llm\nimport \"time\"\nfunc f() { time.Sleep(1) }",
			"llm/a_test.go": "package llm\nimport (\"testing\"; \"testing/synctest\"; \"time\")\n" +
				"func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }\n" +
				"func TestB(t *testing.T) { time.Sleep(1) }\n" +
				"func TestC(t *testing.T) { synctest.Test(t, func(*testing.T) { wait(); doze() }); doze() }\n" +
				"func wait() { time.Sleep(1) }\n" +
				"func doze() { time.Sleep(1) }",
			"session/storetest/a.go": "package storetest\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }",
		},
		want: []string{"llm/a_test.go:4", "llm/a_test.go:7", "session/storetest/a.go:3"},
	},
}

func initialisers(t *tree) (found []string) {
	for _, f := range t.all {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, f.at(fn))
			}
		}
	}
	return found
}

func vagueNames(t *tree) (found []string) {
	for r, f := range t.all {
		dir := r.dir[strings.LastIndexByte(r.dir, '/')+1:]
		if vague[strings.TrimSuffix(f.ast.Name.Name, "_test")] || vague[dir] {
			found = append(found, fmt.Sprintf("%s: package %s", f.path, f.ast.Name.Name))
		}
	}
	return found
}

func longOnes(t *tree) (found []string) {
	for _, f := range t.all {
		if !f.test && f.lines > longest && longFiles[f.path] == "" {
			found = append(found, fmt.Sprintf("%s has %d lines, more than %d", f.path, f.lines, longest))
		}
	}
	return found
}

func sleeps(t *tree) (found []string) {
	for _, r := range t.rooms {
		inside, outside := r.bubbles()
		for _, f := range r.files {
			if !f.test && !r.forTests() {
				continue
			}
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && inside[fn.Name.Name] && !outside[fn.Name.Name] {
					continue // a helper that only bubbles call
				}
				f.outsideBubbles(d, func(n ast.Node) {
					if call, ok := n.(*ast.CallExpr); ok && f.calls(call, "time", "Sleep") {
						found = append(found, f.at(call))
					}
				})
			}
		}
	}
	return found
}

// outsideBubbles visits the nodes below n that do not run under synctest.Test.
func (f *source) outsideBubbles(n ast.Node, visit func(ast.Node)) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && f.calls(call, "testing/synctest", "Test") {
			return false
		}
		visit(n)
		return true
	})
}

// bubbles returns the names that the room uses inside of functions given to synctest.Test, and those it uses elsewhere.
func (r *room) bubbles() (inside, outside map[string]bool) {
	inside, outside = map[string]bool{}, map[string]bool{}
	for _, f := range r.files {
		total, open, declared := map[string]int{}, map[string]int{}, map[*ast.Ident]bool{}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				declared[fn.Name] = true
			}
		}
		count := func(names map[string]int) func(ast.Node) {
			return func(n ast.Node) {
				if id, ok := n.(*ast.Ident); ok && !declared[id] {
					names[id.Name]++
				}
			}
		}
		f.outsideBubbles(f.ast, count(open))
		all := count(total)
		ast.Inspect(f.ast, func(n ast.Node) bool { all(n); return true })
		for name, n := range total {
			inside[name] = inside[name] || n > open[name]
			outside[name] = outside[name] || open[name] > 0
		}
	}
	return inside, outside
}

// calls reports whether call is of the named function of the imported package.
func (f *source) calls(call *ast.CallExpr, pkg, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == f.nameOf(pkg)
}

// nameOf returns the name that the file calls an imported package by, or nothing.
func (f *source) nameOf(pkg string) string {
	for i, p := range f.imports() {
		switch {
		case p != pkg:
		case f.ast.Imports[i].Name != nil:
			return f.ast.Imports[i].Name.Name
		default:
			return p[strings.LastIndexByte(p, '/')+1:]
		}
	}
	return ""
}
