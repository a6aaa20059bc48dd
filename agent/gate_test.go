package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// decide is a function as a gate.
type decide func(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error)

func (d decide) Decide(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
	return d(ctx, calls)
}

func gated(g agent.Gate) func(*agent.Options) {
	return func(o *agent.Options) { o.Gate = g }
}

// The gate sees all calls of an answer together, with their effects, but for those that cannot run anyway.
func TestGateSeesTheBatch(t *testing.T) {
	var asked []string
	b := newBench(t, `
		call look {"path":"/a"}
		raw look {
		call look {"path":"/a"}
		call change {"path":"/b"}
		call fly
		---
		text I see.`, gated(decide(func(_ context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
		for _, c := range calls {
			asked = append(asked, c.Call.Name+" "+c.Tool.Name)
			if c.Effects.ReadOnly() != (c.Call.Name == "look") {
				t.Errorf("%s: effects %+v", c.Call.Name, c.Effects)
			}
		}
		return make([]agent.Verdict, len(calls)), nil
	})))
	b.run("go")
	same(t, strings.Join(asked, ", "), "look look, change change")
	checkJournal(t, b)
}

// Without a gate calls that only look are allowed, and nothing else is.
func TestDefaultGate(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"/a\"}\ncall command {\"path\":\"x\"}\n---\ntext I see.", gated(nil))
	b.run("go")
	same(t, b.outcomes(), `
		user "go"
		assistant call look call command
		tool look ok "seen /a"
		tool command denied "This call was denied: only calls that change nothing are allowed here."
		assistant "I see."`)
}

// The journal keeps who decided and why. What simply is allowed needs no entry.
func TestDecisionsInTheJournal(t *testing.T) {
	b := newBench(t, `
		call#a look {"path":"/a"}
		call#b look {"path":"/b"}
		call#c look {"path":"/c"}
		call#d look {"path":"/d"}
		call#e look {"path":"/e"}
		---
		text I see.`, gated(agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
		return map[string]agent.Verdict{
			"e": {Allow: true, Fails: errors.New("there is no /e")},
			"a": {Allow: true},
			"b": {Allow: true, By: "rule 7", Reason: "reads are fine"},
			"c": {By: "Ada", Code: "approval.denied", Reason: "I would rather not"},
			"d": {},
		}[c.Call.ID]
	})))
	b.run("go")
	want := []session.Decision{
		{Call: "b", Verdict: "allow", By: "rule 7", Reason: "reads are fine"},
		{Call: "c", Verdict: "deny", By: "Ada", Code: "approval.denied", Reason: "I would rather not"},
		{Call: "d", Verdict: "deny"},
	}
	got := bodies[session.Decision](b.journal())
	if len(got) != len(want) {
		t.Fatalf("decisions = %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("decision %d = %+v, want %+v", i+1, got[i], want[i])
		}
	}
	same(t, b.outcomes(), `
		user "go"
		assistant call look call look call look call look call look
		tool look ok "seen /a"
		tool look ok "seen /b"
		tool look denied "This call was denied: I would rather not."
		tool look denied "This call was denied: it is not allowed here."
		tool look failed "there is no /e"
		assistant "I see."`)
}

// Arguments that were changed before the call was allowed are checked like any others, and are what runs.
func TestChangedArguments(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"path":"/elsewhere"}`: `tool look ok "[This call ran with other arguments: {\"path\":\"/elsewhere\"}. Changed by: tenon]\n" "seen /elsewhere"`,
		`{"path":7}`: `tool look invalid "This call was not run: its arguments were changed when it was allowed, and they are invalid: ` +
			`look: the arguments do not fit: path: must be a string, not the number 7"`,
	} {
		b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext I see.", gated(agent.GateFunc(
			func(context.Context, agent.Proposed) agent.Verdict {
				return agent.Verdict{Allow: true, Arguments: arguments}
			})))
		b.run("go")
		same(t, b.outcomes(), "user \"go\"\nassistant call look\n"+want+"\nassistant \"I see.\"")
		if got := bodies[session.Decision](b.journal()); len(got) != 1 || got[0].Arguments != arguments {
			t.Errorf("decisions = %+v", got)
		}
		for _, started := range bodies[session.CallStarted](b.journal()) {
			if string(started.Arguments) != arguments {
				t.Errorf("the journal has the start with %s", started.Arguments)
			}
		}
	}
}

// A gate that fails denies all, and the run ends with its error.
func TestGateThatFails(t *testing.T) {
	broken := errors.New("the rules cannot be read")
	for name, gate := range map[string]agent.Gate{
		"an error": decide(func(context.Context, []agent.Proposed) ([]agent.Verdict, error) { return nil, broken }),
		"too few verdicts": decide(func(_ context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
			return []agent.Verdict{{Allow: true}}, nil
		}),
		"too many verdicts": decide(func(_ context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
			return make([]agent.Verdict, 3), nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "call look {\"path\":\"/a\"}\ncall command {\"path\":\"x\"}", gated(gate))
			events, err := drain(b.Run(t.Context(), text("go")))
			if err == nil || name == "an error" && !errors.Is(err, broken) {
				t.Errorf("error = %v", err)
			}
			endsWith(t, events, session.ReasonError, err.Error())
			for _, m := range toolResults(events) {
				hasResult(t, m, session.OutcomeDenied, "the permission check failed")
			}
			if len(toolResults(events)) != 2 || b.log.String() != "" {
				t.Errorf("%d results; tools did %q", len(toolResults(events)), b.log)
			}
			checkJournal(t, b)
		})
	}
}

// A gate may wait for a person. If the run is aborted meanwhile, its calls do not count as denied.
func TestAbortWhileTheGateAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "call look {\"path\":\"/a\"}", gated(decide(
			func(ctx context.Context, _ []agent.Proposed) ([]agent.Verdict, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})))
		time.AfterFunc(time.Second, b.Abort)
		events := b.run("go")
		endsWith(t, events, session.ReasonCancelled, "aborted")
		hasResult(t, result(t, events), session.OutcomeCancelled, "cancelled before it was allowed")
		checkJournal(t, b)
	})
}

// After three denials in a row the model says how far it came, without tools, and the run ends as denied.
func TestThreeDenials(t *testing.T) {
	const denied = "call change {\"path\":\"/a\"}\n---\n"
	concluded := func(t *testing.T, b *bench, last string) {
		t.Helper()
		events := b.run("go")
		endsWith(t, events, session.ReasonDenied, "every call in a row was denied")
		requests := b.client.Requests()
		for i, req := range requests {
			want := llm.ToolAuto
			if i == len(requests)-1 {
				want = llm.ToolNone
			}
			if req.ToolChoice != want {
				t.Errorf("request %d has tool choice %q, want %q", i+1, req.ToolChoice, want)
			}
		}
		if !strings.HasSuffix(b.outcomes(), last) {
			t.Errorf("conversation:\n%s\nwant at its end:\n%s", b.outcomes(), last)
		}
		checkJournal(t, b)
	}
	t.Run("one by one", func(t *testing.T) {
		b := newBench(t, denied+denied+denied+"text I cannot.\n---\ntext never asked", gated(agent.ReadOnly()))
		concluded(t, b, `assistant "I cannot."`)
	})
	t.Run("at once", func(t *testing.T) {
		three := "call change {\"path\":\"/a\"}\ncall change {\"path\":\"/b\"}\ncall change {\"path\":\"/c\"}\n---\n"
		b := newBench(t, three+"text I cannot.", gated(agent.ReadOnly()))
		concluded(t, b, `assistant "I cannot."`)
	})
	t.Run("and the model still calls", func(t *testing.T) {
		b := newBench(t, denied+denied+denied+"call look {\"path\":\"/a\"}\n---\ntext never asked", gated(agent.ReadOnly()))
		concluded(t, b, `tool look denied "This call was not run: no more calls are allowed in this run."`)
	})
	t.Run("but not in a row", func(t *testing.T) {
		b := newBench(t, denied+denied+"call look {\"path\":\"/a\"}\n---\n"+denied+denied+"text Done.", gated(agent.ReadOnly()))
		endsWith(t, b.run("go"), session.ReasonDone, "")
	})
}

// Arguments that were changed are proposed once more: a rule that denies what a person wrote still denies it, and both versions are in
// the journal.
func TestChangedArgumentsAreJudgedAgain(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext I see.", gated(agent.GateFunc(
		func(_ context.Context, c agent.Proposed) agent.Verdict {
			if !c.Changed {
				return agent.Verdict{Allow: true, By: "Ada", Arguments: `{"path":"/etc"}`}
			}
			return agent.Verdict{By: "rule 7", Reason: "no one may read " + string(c.Arguments)}
		})))
	b.run("go")
	same(t, b.outcomes(), "user \"go\"\nassistant call look\n"+
		`tool look denied "This call was denied: no one may read {\"path\":\"/etc\"}."`+"\nassistant \"I see.\"")
	want := []session.Decision{
		{Call: "c1", Verdict: "allow", By: "Ada", Arguments: `{"path":"/etc"}`},
		{Call: "c1", Verdict: "deny", By: "rule 7", Reason: `no one may read {"path":"/etc"}`},
	}
	got := bodies[session.Decision](b.journal())
	for i := range got {
		got[i].Call = "c1"
	}
	if !slices.Equal(got, want) {
		t.Errorf("decisions = %+v", got)
	}
}

// A gate that never comes to rest does not hold the run.
func TestArgumentsThatAreChangedForEver(t *testing.T) {
	n := 0
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext I see.", gated(agent.GateFunc(
		func(context.Context, agent.Proposed) agent.Verdict {
			n++
			return agent.Verdict{Allow: true, Arguments: fmt.Sprintf(`{"path":"/%d"}`, n)}
		})))
	b.run("go")
	same(t, b.outcomes(), "user \"go\"\nassistant call look\n"+
		`tool look denied "This call was denied: its arguments were changed again and again."`+"\nassistant \"I see.\"")
}

// While the gate waits for a person, the consumer sees the question, and may answer it.
func TestTheQuestionIsSeenWhileTheGateWaits(t *testing.T) {
	answered := make(chan struct{})
	var b *bench
	b = newBench(t, "call look {\"path\":\"/a\"}\n---\ntext I see.", gated(decide(
		func(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
			_ = b.Agent.Record(ctx, session.Asking{ID: "q"})
			select {
			case <-answered:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			_ = b.Agent.Record(ctx, session.Asked{ID: "q"})
			return []agent.Verdict{{Allow: true, By: "Ada"}}, nil
		})))
	var kinds []string
	for e, err := range b.Agent.Run(t.Context(), llm.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Body.(type) {
		case session.Asking:
			close(answered)
			kinds = append(kinds, e.Body.Kind())
		case session.Asked, session.Decision, session.CallStarted:
			kinds = append(kinds, e.Body.Kind())
		}
	}
	same(t, strings.Join(kinds, " "), "asking asked decision call_started")
	checkJournal(t, b)
}

// A run that is aborted while the gate waits does not wait any longer.
func TestAbortWhileTheGateWaits(t *testing.T) {
	gone := make(chan struct{})
	var b *bench
	b = newBench(t, "call look {\"path\":\"/a\"}", gated(decide(
		func(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
			defer close(gone)
			b.Abort()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})))
	endsWith(t, b.run("go"), session.ReasonCancelled, "aborted")
	<-gone
	checkJournal(t, b)
}
