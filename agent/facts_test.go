package agent_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// The default gate denies a tool that does not declare its effects: it may do anything.
func TestUndeclaredToolIsDenied(t *testing.T) {
	var ran atomic.Bool
	wipe := tool.New("wipe", "Wipe.", nil, func(context.Context, struct{}, tool.Report) (tool.Result, error) {
		ran.Store(true)
		return tool.TextResult("wiped"), nil
	})
	b := newBench(t, "call wipe\n---\ntext I see.", func(o *agent.Options) { o.Tools, o.Gate = []tool.Tool{wipe}, nil })
	b.run("go")
	if ran.Load() {
		t.Error("it ran")
	}
	for _, m := range bodies[session.Message](b.journal()) {
		if m.Role == llm.RoleTool && m.Outcome != session.OutcomeDenied {
			t.Errorf("the result is %+v", m)
		}
	}
}

// dispatched is a tool whose calls are those of another.
type dispatched struct{ tool.Tool }

func (d dispatched) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	call, err := d.Tool.Prepare(ctx, arguments)
	if err == nil {
		call.As = "mcp__mail__list"
	}
	return call, err
}

// The journal has what people read about a call: its name and title when it begins, its outcome and its diffs when it ends. All of it
// is bounded.
func TestFactsOfCalls(t *testing.T) {
	long := strings.Repeat("+a line\n", 20_000)
	list := dispatched{tool.New("use_tool", "Use.", tool.Nothing, func(context.Context, struct{}, tool.Report) (tool.Result, error) {
		result := tool.TextResult("3 letters")
		result.Brief = "3\nletters"
		result.Diffs = []tool.FileDiff{{Path: "a", Added: 20_000, Text: long}, {Path: "b", Deleted: true, Removed: 1, Text: "-x\n"}}
		return result, nil
	}, tool.WithTitle(func(struct{}) string { return "inbox\x1b[31m " + strings.Repeat("x", 500) }))}
	var as, title string
	b := newBench(t, "call use_tool\n---\ntext I see.", func(o *agent.Options) {
		o.Tools = []tool.Tool{list}
		o.Gate = agent.GateFunc(func(_ context.Context, p agent.Proposed) agent.Verdict {
			as, title = p.As, p.Title
			return agent.Verdict{Allow: true}
		})
	})
	b.run("go")
	started := bodies[session.CallStarted](b.journal())[0]
	if as != "mcp__mail__list" || started.As != as || started.Tool != "use_tool" {
		t.Errorf("the gate sees %q, the journal %q of %q", as, started.As, started.Tool)
	}
	if title != started.Title || !strings.HasPrefix(title, "inbox [31m xxx") || !strings.HasSuffix(title, "x…") || len(title) > 210 {
		t.Errorf("the gate sees %q, the journal %q", title, started.Title)
	}
	for _, m := range bodies[session.Message](b.journal()) {
		if m.Role != llm.RoleTool {
			continue
		}
		if m.Brief != "3 letters" || len(m.Diffs) != 2 {
			t.Fatalf("brief %q, %d diffs", m.Brief, len(m.Diffs))
		}
		d := m.Diffs[0]
		if d.Path != "a" || d.Added != 20_000 || !d.Cut || len(d.Text) > 64<<10 || !strings.HasSuffix(d.Text, "+a line\n") {
			t.Errorf("%s +%d cut %t, %d bytes", d.Path, d.Added, d.Cut, len(d.Text))
		}
		if d := m.Diffs[1]; d.Path != "b" || !d.Deleted || d.Removed != 1 {
			t.Errorf("%+v", d)
		}
	}
}
