package approval

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/tool"
)

// A session may read and write its own directories without a question. It may only read the readable ones.
func TestDirectoriesThatNeedNoQuestion(t *testing.T) {
	own, readable := t.TempDir(), t.TempDir()
	g := NewGate(Options{Judge: policy(t, permission.Config{Mode: permission.AskMode}), Own: []string{own}, Readable: []string{readable}})
	for _, c := range []struct {
		name    string
		effects tool.Effects
		allow   bool
	}{
		{"read", tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(own, "a"))}}, true},
		{"write", tool.Effects{Writes: []tool.Path{tool.File(filepath.Join(own, "a"))}}, true},
		{"read", tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(readable, "a"))}}, true},
		{"write", tool.Effects{Writes: []tool.Path{tool.File(filepath.Join(readable, "a"))}}, false},
		{"read", tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(readable+"-not", "a"))}}, false},
	} {
		v, err := g.Decide(t.Context(), []agent.Proposed{{Call: llm.ToolCall{ID: "x", Name: c.name}, Effects: c.effects, Arguments: []byte("{}")}})
		if err != nil || v[0].Allow != c.allow {
			t.Errorf("%s %+v: %+v, %v", c.name, c.effects, v, err)
		}
	}
}

// Effects that a tool does not declare are unknown in every mode: asked about, denied without a person, never free. A tool that says
// it touches nothing is free, and so is one that touches only the session's own directories.
func TestUndeclaredEffectsAreUnknown(t *testing.T) {
	own := t.TempDir()
	calls := []agent.Proposed{
		{Call: llm.ToolCall{ID: "undeclared", Name: "x"}},
		{Call: llm.ToolCall{ID: "idempotent", Name: "x"}, Effects: tool.Effects{Idempotent: true}},
		{Call: llm.ToolCall{ID: "unknown", Name: "x"}, Effects: tool.Effects{Unknown: true}},
		{Call: llm.ToolCall{ID: "more than own", Name: "x"}, Effects: tool.Effects{Unknown: true, Writes: []tool.Path{tool.Tree(own)}}},
		{Call: llm.ToolCall{ID: "nothing", Name: "x"}, Effects: tool.Effects{None: true}},
		{Call: llm.ToolCall{ID: "own", Name: "x"}, Effects: tool.Effects{Writes: []tool.Path{tool.Tree(own)}}},
	}
	for _, mode := range []permission.Mode{permission.Inspect, permission.Plan, permission.AskMode, permission.Edits, permission.Auto} {
		g := NewGate(Options{Judge: policy(t, permission.Config{Mode: mode}), Own: []string{own}})
		verdicts, err := g.Decide(t.Context(), calls)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range verdicts {
			if want := i >= 4; v.Allow != want {
				t.Errorf("mode %s, %s: allow %t (%s)", mode, calls[i].Call.ID, v.Allow, v.Reason)
			}
		}
	}
}

// A tool behind a dispatcher is judged by its own name, and a person sees that name.
func TestCallsUnderAnotherName(t *testing.T) {
	p := policy(t, permission.Config{Mode: permission.AskMode, Deny: []string{"mcp(mail/send)"}, Allow: []string{"mcp(mail/list)"}})
	var shown []string
	g := asked(t, p, func(q session.Asking) []ask.Answer {
		for _, c := range q.Calls {
			shown = append(shown, c.Tool)
		}
		return make([]ask.Answer, len(q.Calls))
	}, nil)
	call := func(as string) agent.Proposed {
		return agent.Proposed{Call: llm.ToolCall{ID: as, Name: "use_tool"}, As: as, Effects: tool.Effects{Unknown: true}}
	}
	verdicts, err := g.Decide(t.Context(), []agent.Proposed{call("mcp__mail__send"), call("mcp__mail__list"), call("mcp__mail__search")})
	if err != nil {
		t.Fatal(err)
	}
	if verdicts[0].Allow || verdicts[0].Code != "permission.rule_denied" || !verdicts[1].Allow || verdicts[2].Allow {
		t.Errorf("verdicts = %+v", verdicts)
	}
	if len(shown) != 1 || shown[0] != "mcp__mail__search" {
		t.Errorf("the person sees %q", shown)
	}
}
