package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// codesPage is the document that lists the codes of errors.
const codesPage = "docs/errors.md"

var errorCodeRules = []rule{
	{
		name:  "every code of an error is documented",
		check: undocumentedCodes,
		fix:   "add a row with the code, its meaning and its remedy to " + codesPage + ", or remove the row of a code that is gone",
		broken: map[string]string{
			"session/a.go": "package session\nfunc (*E) Code() string { return \"session.lost\" }\nvar no = \"session.db\"\n" +
				"var a = Codef(\"cli.known\", \"x\")\nvar b = &coded{\"session.bare\", \"x\"}\n" +
				"func (k K) Code() string { return \"llm.\" + string(k) }\n",
			codesPage: "| code | meaning | remedy |\n|---|---|---|\n| `cli.known` | a | b |\n| `llm.any` | a | b |\n| `cli.gone` | a | b |\n",
		},
		want: []string{"session/a.go:2: session.lost", "session/a.go:5: session.bare", "cli.gone"},
	},
}

var (
	codeRow  = regexp.MustCompile("(?m)^\\| `([a-z]+\\.[a-z_]+)` \\| [^|]+ \\| [^|]+ \\|$")
	codeForm = regexp.MustCompile(`^[a-z]+\.[a-z_]*$`)
)

// undocumentedCodes compares the codes of errors in the source with the page. A code is the result of a method Code, or the first of the
// values that a coded error is made of.
func undocumentedCodes(t *tree) (found []string) {
	page, err := fs.ReadFile(t.fsys, codesPage)
	if err != nil {
		return nil // a sample without the page
	}
	listed := map[string]bool{}
	for _, m := range codeRow.FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = false
	}
	for _, r := range t.rooms {
		for _, f := range r.code() {
			for _, lit := range f.codes() {
				code, _ := strconv.Unquote(lit.Value)
				if !codeForm.MatchString(code) {
					continue
				}
				known := false
				for name := range listed {
					if name == code || strings.HasSuffix(code, ".") && strings.HasPrefix(name, code) {
						listed[name], known = true, true
					}
				}
				if !known {
					found = append(found, fmt.Sprintf("%s: %s", f.at(lit), code))
				}
			}
		}
	}
	for name, used := range listed {
		if !used {
			found = append(found, codesPage+": no error has the code "+name)
		}
	}
	slices.Sort(found)
	// The page comes last.
	slices.SortStableFunc(found, func(a, b string) int {
		return boolOrder(strings.HasPrefix(a, codesPage), strings.HasPrefix(b, codesPage))
	})
	return found
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// codes finds the strings that are codes of errors.
func (f *source) codes() (found []*ast.BasicLit) {
	text := func(e ast.Expr) {
		if b, ok := e.(*ast.BinaryExpr); ok {
			e = b.X
		}
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			found = append(found, lit)
		}
	}
	for _, d := range f.ast.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil || n.Name.Name != "Code" || n.Body == nil {
					break
				}
				ast.Inspect(n.Body, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						text(r.Results[0])
					}
					return true
				})
			case *ast.CallExpr:
				if name := nameOf(n.Fun); (name == "Codef" || name == "coded") && len(n.Args) > 0 {
					text(n.Args[0])
				}
			case *ast.CompositeLit:
				if nameOf(n.Type) == "coded" && len(n.Elts) > 0 {
					if kv, ok := n.Elts[0].(*ast.KeyValueExpr); ok {
						text(kv.Value)
					} else {
						text(n.Elts[0])
					}
				}
			}
			return true
		})
	}
	return found
}

// nameOf is the last name of an expression: f of f and of p.f.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
