package permission

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"pgregory.net/rapid"
)

func TestLimits(t *testing.T) {
	p := policy(t, Auto)
	root := p.options.Root
	in, out := tool.File(filepath.Join(root, "docs", "a.md")), tool.File(filepath.Join(root, "main.go"))
	write := func(name string, at tool.Path) Call {
		return Call{Tool: name, Effects: tool.Effects{Writes: []tool.Path{at}}}
	}
	yes, no := func() bool { return true }, func() bool { return false }
	docs := Limits{Paths: []string{filepath.Join(root, "docs")}, Confined: yes}
	loose := Limits{Paths: docs.Paths, Confined: no}
	reader := Limits{ReadOnly: true, Confined: yes}
	few := Limits{Tools: []string{"read", "edit"}, Without: []string{"patch"}}
	escape := p.Command("make")
	escape.Effects.Unconfined = true
	foreign := Call{Tool: "mcp__x__y", Effects: tool.Effects{Unknown: true, Exclusive: true}}
	read := Call{Tool: "read", Effects: tool.Effects{Reads: []tool.Path{out}}}
	agent := Call{Tool: "agent", Effects: tool.Effects{Agents: true}, Arguments: json.RawMessage(`{}`)}
	for _, c := range []struct {
		name   string
		limits Limits
		call   Call
		code   string // "": not refused
	}{
		{"a file in the scope", docs, write("write", in), ""},
		{"a file outside", docs, write("write", out), CodeScope},
		{"the directory around the scope", docs, write("delete", tool.Tree(root)), CodeScope},
		{"a path that is none", docs, write("write", tool.File("docs/a.md")), CodeScope},
		{"reading outside", docs, read, ""},
		{"a confined command", docs, p.Command("make"), ""},
		{"a confined command that names a file outside", docs, p.Command("rm main.go"), CodeScope},
		{"a confined command that writes nothing", docs, p.Command("ls >/dev/null 2>&1"), ""},
		{"a command outside of the sandbox", docs, escape, CodeScope},
		{"a command that nothing confines", loose, p.Command("make"), CodeScope},
		{"a harmless command that nothing confines", loose, p.Command("ls"), ""},
		{"a tool of a server", docs, foreign, CodeScope},
		{"an agent", docs, agent, ""},
		{"a reader writes", reader, write("write", in), CodeScope},
		{"a reader runs a command", reader, p.Command("make"), CodeScope},
		{"a reader looks", reader, p.Command("ls"), ""},
		{"a tool of the role", few, read, ""},
		{"a tool that the role does not list", few, write("write", in), CodeTool},
		{"a tool that the role excludes", few, write("patch", in), CodeTool},
		{"one of a group of tools", few, write("multi_edit", in), ""},
		{"a tool that touches nothing", few, Call{Tool: "todo", Effects: tool.Effects{None: true}}, ""},
		{"a question", few, Call{Tool: "question", Effects: tool.Effects{Asks: true}}, ""},
		{"an excluded question", Limits{Without: []string{"question"}}, Call{Tool: "question", Effects: tool.Effects{Asks: true}}, CodeTool},
	} {
		without := p.Judge(c.call)
		v := c.limits.Over(p).Judge(c.call)
		if c.code == "" && (v.Action != without.Action || v.Code != without.Code) || c.code != "" && (v.Action != Deny || v.Code != c.code && without.Action != Deny) {
			t.Errorf("%s: want %q\n%s\nwithout limits: %s", c.name, c.code, v, without)
		}
	}
}

// TestLimitsNeverWiden judges random calls with and without random limits. No grant lifts a limit.
func TestLimitsNeverWiden(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t, base)
		l := Limits{
			ReadOnly: rapid.Bool().Draw(t, "read only"), Tools: rapid.SampledFrom([][]string{nil, {"read"}, {"shell", "write"}}).Draw(t, "tools"),
			Confined: func() bool { return rapid.Bool().Draw(t, "confined") },
		}
		if rapid.Bool().Draw(t, "scoped") {
			l.Paths = []string{filepath.Join(base.options.Root, "src")}
		}
		c := anyCall(base).Draw(t, "call")
		grants := rapid.SliceOfN(anyRule(Allow), 0, 2).Draw(t, "grants")
		v, without := l.Over(p).Judge(c, grants...), p.Judge(c, grants...)
		if v.Action.rank() < without.Action.rank() {
			t.Fatalf("%s\nwithout limits: %s", v, without)
		}
		outside := func(w tool.Path) bool { return l.ReadOnly || l.Paths != nil && !contains(l.Paths, w.Name) }
		if v.Action != Deny && slices.ContainsFunc(c.Effects.Writes, outside) {
			t.Fatalf("it writes outside of %v: %s", l.Paths, v)
		}
	})
}
