package permission

import (
	"os"
	"path"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzJudge plants programs in the syntax tree of a line and finds them again, independently of the analysis. A line with a denied program
// is denied in every mode. A line with an unknown program runs only in a mode that does not ask about commands that the sandbox confines.
func FuzzJudge(f *testing.F) {
	data, err := os.ReadFile(corpus)
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, command, ok := strings.Cut(strings.TrimSpace(line), " "); ok && line[0] != '#' {
			command = written.Replace(command)
			f.Add(command, uint64(len(command)))
			f.Add(strings.ReplaceAll(command, "rm ", "evil "), uint64(len(command))*77)
		}
	}
	base := policy(f, AskMode)
	f.Fuzz(func(t *testing.T, line string, seed uint64) {
		denied, unknown := planted(line)
		if !denied && !unknown {
			return
		}
		for _, m := range Modes() {
			p := base.InMode(m).With(random(t, seed, !unknown)...)
			if denied {
				if d := p.With(parse(t, User, "deny shell(rm *)")...).Judge(p.Command(line)); d.Action == Allow {
					t.Errorf("mode %s allows rm, which is denied: %s", m, d)
				}
			}
			if unknown && m != Yolo && m != Auto {
				if d := p.Judge(p.Command(line)); d.Action == Allow {
					t.Errorf("mode %s allows evil, of which nothing is known: %s", m, d)
				}
			}
			if p.options.Sandboxed = false; unknown && m == Auto {
				if d := p.Judge(p.Command(line)); d.Action == Allow {
					t.Errorf("mode auto without a sandbox allows evil, of which nothing is known: %s", d)
				}
			}
			p.options.Sandboxed = true
		}
	})
}

// random returns rules that a number picks; those that allow everything only on demand.
func random(t *testing.T, seed uint64, all bool) (rules []Rule) {
	for ; seed > 0; seed /= 64 {
		text := texts[seed%64%uint64(len(texts))]
		if !all && (text == "shell" || text == "*" || text == "shell(*)" || text == "shell(evil *)") {
			continue
		}
		verdict := Allow
		if seed%64 > 48 {
			verdict = Ask
		}
		rules = append(rules, parse(t, User, string(verdict)+" "+text)...)
	}
	return rules
}

// planted looks for rm and evil as programs in a line that bash would run. Where the line declares such a function, it is
// known what they mean.
func planted(line string) (denied, unknown bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(line) > 4000 {
		return false, false
	}
	own := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			own = true
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			name := n.Args[0].Lit()
			denied = denied || path.Base(name) == "rm" && !strings.Contains(name, `\`)
			unknown = unknown || name == "evil"
		}
		return true
	})
	return denied && !own, unknown && !own
}
