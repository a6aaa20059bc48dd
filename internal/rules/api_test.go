package rules

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"slices"
)

// wellKnown are methods whose contract everybody knows from the standard library.
var wellKnown = map[string]bool{
	"Error": true, "Unwrap": true, "Is": true, "As": true, "String": true, "GoString": true, "Format": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true, "LogValue": true,
	"Len": true, "Less": true, "Swap": true,
}

var apiRules = []rule{
	{
		name:  "every package says what it is for",
		check: speechless,
		fix:   "write a package comment that reads well in go doc: what it is, how one begins, what it promises",
		broken: map[string]string{
			"llm/a.go":             "package llm",
			"tool/a.go":            "// Package tool is.\npackage tool",
			"tool/b.go":            "package tool",
			"internal/x/a_test.go": "package x",
		},
		want: []string{"llm"},
	},
	{
		name:  "what is exported is documented",
		check: undocumented,
		fix:   "say what it does, who owns what, whether it blocks, whether it may be used concurrently, and which errors it returns",
		broken: map[string]string{
			"llm/a.go": `package llm

// Doer does.
type Doer interface {
	// Do does it.
	Do()
	Undo()
}

// Kinder has a kind, as this says.
type Kinder interface{ Kind() string }

type T int

func (T) Do()           {}
func (T) Error() string { return "" }
func (T) Other()        {}
func (t *T) other()     {}
func F()                {}
func f()                {}

type u int

func (u) Other() {}

// The numbers.
const (
	One = 1
	Two = 2
)

var (
	A = 1 // the first
	B = 2
)
`,
			"llm/a_test.go":    "package llm\nfunc TestX() {}",
			"internal/x/x.go":  "package x\nfunc F() {}",
			"llm/llmtest/a.go": "package llmtest\nvar C, d = 1, 2\n",
			"llm/main/main.go": "package main\nfunc F() {}",
		},
		want: []string{"Doer.Undo", "T", "T.Other", "F", "B", "C"},
	},
	{
		name:  "public packages show how they are used",
		check: unshown,
		fix: "add an Example function with an Output comment to a file example_test.go: the shortest program that does something useful " +
			"with the package",
		broken: map[string]string{
			"llm/a.go":                 "package llm",
			"llm/a_test.go":            "package llm_test\nfunc Example() {\n\t// Output:\n}",
			"tool/a.go":                "package tool",
			"tool/a_test.go":           "package tool_test\nfunc Example() {}",
			"session/a.go":             "package session",
			"internal/app/a.go":        "package app",
			"session/memory/x.go":      "package memory",
			"session/memory/x_test.go": "package memory_test\nfunc ExampleNew() {\n\tprintln(1)\n\t// Output: 1\n}",
		},
		want: []string{"session", "tool"},
	},
}

func speechless(t *tree) (found []string) {
	for _, r := range t.rooms {
		code := r.code()
		says := func(f *source) bool { return f.ast.Doc != nil }
		if len(code) > 0 && !slices.ContainsFunc(code, says) {
			found = append(found, r.dir)
		}
	}
	return found
}

func unshown(t *tree) (found []string) {
	for _, r := range t.rooms {
		var tests []*ast.File
		for _, f := range r.files {
			if f.test {
				tests = append(tests, f.ast)
			}
		}
		runs := func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }
		if r.public() && !slices.ContainsFunc(doc.Examples(tests...), runs) {
			found = append(found, r.dir)
		}
	}
	return found
}

// undocumented lists exported identifiers without a comment. Fields are spoken for by the comment of their type, the
// members of a group by the comment of the group, and a method by the interface of its package that declares it.
func undocumented(t *tree) (found []string) {
	for _, r := range t.rooms {
		if !r.public() {
			continue
		}
		promised := r.interfaceMethods()
		for _, f := range r.code() {
			if f.ast.Name.Name == "main" {
				continue
			}
			for _, d := range f.ast.Decls {
				for _, name := range silent(d, promised) {
					found = append(found, fmt.Sprintf("%s: %s", f.at(d), name))
				}
			}
		}
	}
	return found
}

// interfaceMethods returns the names of the methods that exported interfaces of the room declare.
func (r *room) interfaceMethods() map[string]bool {
	names := map[string]bool{}
	for _, f := range r.code() {
		for spec := range typeSpecs(f.ast) {
			if in, ok := spec.Type.(*ast.InterfaceType); ok && spec.Name.IsExported() {
				for _, m := range in.Methods.List {
					for _, name := range m.Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
	return names
}

func typeSpecs(f *ast.File) func(func(*ast.TypeSpec) bool) {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, s := range gen.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok && !yield(spec) {
					return
				}
			}
		}
	}
}

// silent returns the exported names that a declaration introduces and says nothing about.
func silent(d ast.Decl, promised map[string]bool) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return silentFunc(d, promised)
	case *ast.GenDecl:
		var names []string
		for _, s := range d.Specs {
			names = append(names, silentSpec(d, s)...)
		}
		return names
	}
	return nil
}

func silentFunc(d *ast.FuncDecl, promised map[string]bool) []string {
	name := d.Name.Name
	if d.Doc != nil || !d.Name.IsExported() {
		return nil
	}
	if d.Recv == nil {
		return []string{name}
	}
	recv := receiver(d.Recv.List[0].Type)
	if !ast.IsExported(recv) || wellKnown[name] || promised[name] {
		return nil
	}
	return []string{recv + "." + name}
}

// receiver returns the name of the type of a receiver.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

func silentSpec(d *ast.GenDecl, s ast.Spec) (names []string) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		if d.Doc != nil || s.Doc != nil || s.Comment != nil {
			return nil
		}
		for _, n := range s.Names {
			if n.IsExported() {
				names = append(names, n.Name)
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		if s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
			names = append(names, s.Name.Name)
		}
		names = append(names, silentMethods(s)...)
	}
	return names
}

// silentMethods returns the methods of an interface without a comment. The comment of an interface with one method speaks
// for both.
func silentMethods(s *ast.TypeSpec) (names []string) {
	in, ok := s.Type.(*ast.InterfaceType)
	if !ok || in.Methods.NumFields() == 1 {
		return nil
	}
	for _, m := range in.Methods.List {
		for _, n := range m.Names {
			if n.IsExported() && m.Doc == nil && m.Comment == nil {
				names = append(names, s.Name.Name+"."+n.Name)
			}
		}
	}
	return names
}
