package approval

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/tool"
)

func policy(t *testing.T, c permission.Config) *permission.Policy {
	t.Helper()
	p, err := permission.New(permission.Options{Root: t.TempDir(), Home: t.TempDir(), Mode: c.Mode}, permission.Layer{Config: c, Scope: permission.User})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// command is a proposed call of the shell.
func command(p *permission.Policy, id, line string) agent.Proposed {
	c := p.Command(line)
	return agent.Proposed{
		Call: llm.ToolCall{ID: id, Name: c.Tool}, Effects: c.Effects, Arguments: json.RawMessage(`{"command":"x"}`),
	}
}

// asked is a gate whose questions are answered.
func asked(t *testing.T, p *permission.Policy, answer func(q session.Asking) []ask.Answer, keep func(context.Context, []permission.Rule) error) *Gate {
	t.Helper()
	b := NewBroker(func(_ context.Context, q session.Asking) ([]ask.Answer, error) { return answer(q), nil }, 0)
	return NewGate(Options{Judge: p, Broker: b, Keep: keep})
}

// If no person can answer, a run never waits: the gate denies the call and says how to allow it. Every decision has its rule and reason.
func TestNoOneCanBeAsked(t *testing.T) {
	p := policy(t, permission.Config{Deny: []string{"shell(git push *)"}})
	g := NewGate(Options{Judge: p})
	v, err := g.Decide(t.Context(), []agent.Proposed{command(p, "a", "ls"), command(p, "b", "go test ./..."), command(p, "c", "git push")})
	if err != nil {
		t.Fatal(err)
	}
	if !v[0].Allow || v[1].Allow || v[2].Allow {
		t.Errorf("verdicts = %+v", v)
	}
	codes := []string{"permission.reading_command", "permission.runs_code", "permission.rule_denied"}
	for i, want := range []string{"", "--mode", "git push"} {
		if v[i].By == "" || v[i].Code != codes[i] || !strings.Contains(v[i].Reason, want) {
			t.Errorf("verdict %d = %+v", i, v[i])
		}
	}
}

// One question covers all calls of an answer that need approval. It omits calls that a rule allows or denies.
func TestOneQuestionForAll(t *testing.T) {
	p := policy(t, permission.Config{Deny: []string{"shell(git push *)"}})
	var seen []ask.Call
	g := asked(t, p, func(q session.Asking) []ask.Answer {
		seen = q.Calls
		return []ask.Answer{{Allow: true, Reason: "go on"}, {Reason: "not this"}}
	}, nil)
	calls := []agent.Proposed{command(p, "a", "ls"), command(p, "b", "go test ./..."), command(p, "c", "git push"), command(p, "d", "make")}
	calls[1].Preview = func(context.Context) (string, error) { return "+line", nil }
	calls[3].Preview = func(context.Context) (string, error) { return "", errors.New("no such file") } // an earlier call may create it
	v, err := g.Decide(t.Context(), calls)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Call != "b" || seen[0].Preview != "+line" || seen[1].Call != "d" || !strings.Contains(seen[1].Preview, "no such file") {
		t.Errorf("people saw %+v", seen)
	}
	if seen[0].Reason == "" || len(seen[0].Effects) == 0 {
		t.Errorf("people saw %+v", seen[0])
	}
	want := []agent.Verdict{
		{Allow: true, By: v[0].By, Code: v[0].Code, Reason: v[0].Reason},
		{Allow: true, By: Person, Code: CodeAllowed, Reason: "go on"},
		{By: v[2].By, Code: v[2].Code, Reason: v[2].Reason},
		{By: Person, Code: CodeDenied, Reason: "not this"},
	}
	for i := range want {
		if v[i] != want[i] {
			t.Errorf("verdict %d = %+v, want %+v", i, v[i], want[i])
		}
	}
}

// A call whose preview fails would fail: the model gets the error, and no person is asked, unless an earlier call may change that.
func TestCallsThatWouldFail(t *testing.T) {
	p := policy(t, permission.Config{})
	edit := func(id, path, problem string) agent.Proposed {
		return agent.Proposed{
			Call: llm.ToolCall{ID: id, Name: "edit"}, Effects: tool.Effects{Writes: []tool.Path{tool.File(path)}}, Arguments: json.RawMessage("{}"),
			Preview: func(context.Context) (string, error) {
				if problem != "" {
					return "", errors.New(problem)
				}
				return "+line", nil
			},
		}
	}
	var seen []ask.Call
	g := asked(t, p, func(q session.Asking) []ask.Answer {
		seen = q.Calls
		return make([]ask.Answer, len(q.Calls))
	}, nil)
	v, err := g.Decide(t.Context(), []agent.Proposed{edit("a", "/x/a", "not found"), edit("b", "/x/b", ""), edit("c", "/x/b", "not yet"), edit("d", "/x/d", "too")})
	if err != nil || v[0].Fails == nil || v[0].Allow || v[1].Fails != nil || v[2].Fails != nil || v[3].Fails == nil || v[3].Fails.Error() != "too" {
		t.Fatalf("%+v, %v", v, err)
	}
	if len(seen) != 2 || seen[0].Call != "b" || seen[1].Call != "c" || !strings.Contains(seen[1].Preview, "not yet") {
		t.Errorf("people saw %+v", seen)
	}
	seen = nil
	if v, err = g.Decide(t.Context(), []agent.Proposed{edit("a", "/x/a", "not found")}); err != nil || v[0].Fails == nil || seen != nil {
		t.Errorf("%+v, %v, people saw %+v", v, err, seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = g.Decide(ctx, []agent.Proposed{edit("a", "/x/a", "cancelled")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A grant is shown in words before it is given, and covers the next call of its kind and no other.
func TestGrants(t *testing.T) {
	for _, always := range []bool{false, true} {
		p := policy(t, permission.Config{})
		questions := 0
		var kept []permission.Rule
		g := asked(t, p, func(q session.Asking) []ask.Answer {
			questions++
			grants := q.Calls[0].Grants
			if len(grants) == 0 || grants[0].Words == "" || len(grants[0].Rules) == 0 {
				t.Fatalf("grants = %+v", grants)
			}
			return []ask.Answer{{Allow: true, Grant: 1, Always: always}}
		}, func(_ context.Context, rules []permission.Rule) error { kept = rules; return nil })
		for range 2 {
			v, err := g.Decide(t.Context(), []agent.Proposed{command(p, "a", "go test ./...")})
			if err != nil || !v[0].Allow {
				t.Fatalf("verdict %+v, %v", v, err)
			}
		}
		if questions != 1 {
			t.Errorf("%d questions", questions)
		}
		if always != (len(kept) > 0) {
			t.Errorf("kept %v", kept)
		}
		if v := g.Judge(p.Command("go run .")); v.Action != permission.Ask {
			t.Errorf("go run is %s by %s", v.Action, v.Rule)
		}
		child := NewGate(Options{Judge: permission.Meet(p, g)}) // has the parent's grants only if it gets them
		if v := child.Judge(p.Command("go test ./...")); v.Action != permission.Ask {
			t.Errorf("a grant of the parent counts unasked: %s", v)
		}
		child = NewGate(Options{Judge: permission.Meet(p, g), Grants: g.Grants()})
		if v := child.Judge(p.Command("go test ./...")); v.Action != permission.Allow {
			t.Errorf("an inherited grant does not count: %s", v)
		}
	}
}

func TestGrantsThatFail(t *testing.T) {
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		answer ask.Answer
		keep   func(context.Context, []permission.Rule) error
	}{
		"not offered":        {ask.Answer{Allow: true, Grant: 99}, nil},
		"nowhere to keep it": {ask.Answer{Allow: true, Grant: 1, Always: true}, nil},
		"not kept":           {ask.Answer{Allow: true, Grant: 1, Always: true}, func(context.Context, []permission.Rule) error { return full }},
	} {
		p := policy(t, permission.Config{})
		g := asked(t, p, func(session.Asking) []ask.Answer { return []ask.Answer{c.answer} }, c.keep)
		if v, err := g.Decide(t.Context(), []agent.Proposed{command(p, "a", "go test ./...")}); err == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A call that a person edited runs without a second question, unless a rule denies it.
func TestWhatAPersonWrote(t *testing.T) {
	p := policy(t, permission.Config{Deny: []string{"shell(rm *)"}})
	g := asked(t, p, func(session.Asking) []ask.Answer { t.Error("asked again"); return nil }, nil)
	for line, want := range map[string]bool{"go test -v ./...": true, "rm -rf x": false} {
		c := command(p, "a", line)
		c.Changed = true
		if v, err := g.Decide(t.Context(), []agent.Proposed{c}); err != nil || v[0].Allow != want {
			t.Errorf("%s: %+v, %v", line, v, err)
		}
	}
}

func TestModeAtRunTime(t *testing.T) {
	p := policy(t, permission.Config{})
	g := NewGate(Options{Judge: permission.Live(func() *permission.Policy { return p })})
	write := agent.Proposed{Call: llm.ToolCall{ID: "a", Name: "write"}, Effects: tool.Effects{Writes: []tool.Path{tool.File("/nowhere/x")}}}
	for mode, want := range map[permission.Mode]bool{permission.AskMode: false, permission.Yolo: true} {
		p = p.InMode(mode)
		if v, err := g.Decide(t.Context(), []agent.Proposed{write}); err != nil || v[0].Allow != want {
			t.Errorf("%s: %+v, %v", mode, v, err)
		}
	}
}

func TestNoOneAnswersTheGate(t *testing.T) {
	p := policy(t, permission.Config{})
	g := NewGate(Options{Judge: p, Broker: NewBroker(opened(t).Ask, 1)})
	v, err := g.Decide(t.Context(), []agent.Proposed{command(p, "a", "go test ./...")})
	if err != nil || v[0].Allow || v[0].Code != CodeTimeout {
		t.Errorf("%+v, %v", v, err)
	}
}
