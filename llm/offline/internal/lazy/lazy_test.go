package lazy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

func TestRegexp(t *testing.T) {
	r := lazy.Compile(`(\w)(\d)`)
	if !r.MatchString("a1") || r.MatchString("ab") {
		t.Error("MatchString")
	}
	if got := r.ReplaceAllString("a1 b2", "$2$1"); got != "1a 2b" {
		t.Errorf("ReplaceAllString: %q", got)
	}
	if got := r.FindStringSubmatch("x b2"); len(got) != 3 || got[1] != "b" {
		t.Errorf("FindStringSubmatch: %q", got)
	}
}

func TestBadPatternPanicsAtFirstUse(t *testing.T) {
	r := lazy.Compile(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a bad pattern was used without a panic")
		}
	}()
	r.MatchString("")
}

// TestAllPatternsAreExpressions compiles what the code hands to Compile, as it would be compiled at the first use.
func TestAllPatternsAreExpressions(t *testing.T) {
	var files []string
	for _, dir := range []string{"../..", "../overview"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, names...)
	}
	found := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			text, constant := call.Args[0].(*ast.BasicLit)
			if !ok || fun.Sel.Name != "Compile" || !constant {
				return true
			}
			found++
			if pattern, err := strconv.Unquote(text.Value); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if _, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return true
		})
	}
	if found < 20 {
		t.Errorf("only %d patterns were found: the test looks in the wrong place", found)
	}
}
