package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

// A call of a person runs as a call of the model does. Its result enters the conversation in the name of the tool, without a run, and the
// next request has it.
func TestUse(t *testing.T) {
	b := clientBench(t, llmtest.Func(func(_ context.Context, r *llm.Request) (llm.Message, error) {
		return llm.AssistantText(r.Messages[len(r.Messages)-2].Text()), nil
	}), with(does("sing", func(_ context.Context, report tool.Report) (tool.Result, error) {
		report("la ")
		return tool.TextResult("la la"), nil
	})))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := make(chan session.Event, 100)
	go func() {
		defer close(heard)
		for e := range b.Follow(ctx, 0) {
			heard <- e
		}
	}()
	<-heard // the listener is there
	e, err := b.Use(t.Context(), llm.ToolCall{Name: "sing", Arguments: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	m := e.Body.(session.Message)
	if m.Author() != (session.Speaker{Kind: session.SpeakerTool, Name: "sing"}) || m.Role != llm.RoleUser || e.Run != "" {
		t.Errorf("the entry is %+v", e)
	}
	if result, ok := view.Unframed(m); !ok || result.Text() != "la la" || result.CallID == "" {
		t.Errorf("the result is %+v", result)
	}
	progress := false
	for h := range heard {
		if p, ok := h.Body.(live.Progress); ok {
			progress = p.Call == m.CallID && p.Text == "la "
		}
		if h.ID == e.ID {
			break
		}
	}
	if !progress {
		t.Error("no listener saw the progress")
	}
	events := b.run("What did I hear?")
	endsWith(t, events, session.ReasonDone, "")
	answer := bodies[session.Message](events)
	same(t, answer[len(answer)-1].Text(), "<note from=\"tool\" name=\"sing\">\nThe user ran this:\nsing {}\n\nla la\n</note>")
	if n := len(bodies[session.RunStarted](b.journal())); n != 1 {
		t.Errorf("%d runs", n)
	}
	cancel()
	for range heard {
	}
}

// A call that does not run leaves nothing in the conversation.
func TestUseOfCallsThatDoNotRun(t *testing.T) {
	denies := agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
		if strings.Contains(string(c.Arguments), "secret") {
			return agent.Verdict{By: "rule", Code: "rule.secret", Reason: "it is a secret"}
		}
		return agent.Verdict{Allow: true}
	})
	b := newBench(t, "", gated(denies))
	for _, c := range []struct {
		call    llm.ToolCall
		outcome session.Outcome
		code    string
	}{
		{llm.ToolCall{Name: "look", Arguments: `{"path":"secret"}`}, session.OutcomeDenied, "rule.secret"},
		{llm.ToolCall{Name: "look", Arguments: `{"way":"a"}`}, session.OutcomeInvalid, "tool.arguments"},
		{llm.ToolCall{Name: "none", Arguments: `{}`}, session.OutcomeInvalid, "agent.not_run"},
	} {
		_, err := b.Use(t.Context(), c.call)
		not, ok := errors.AsType[*agent.NotRunError](err)
		if !ok || not.Outcome != c.outcome || not.Code() != c.code {
			t.Errorf("%v: got %v", c.call, err)
		}
	}
	if b.texts() != "" || b.log.String() != "" {
		t.Errorf("the conversation is %s, the calls are %s", b.texts(), b.log)
	}
}

// A call of a person needs the agent for itself, and ends by an abort. A waiting draft does not prevent it.
func TestUseIsExclusive(t *testing.T) {
	var b *bench
	var busy, again error
	b = clientBench(t, llmtest.Func(func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
		_, busy = b.Use(ctx, llm.ToolCall{Name: "look", Arguments: `{"path":"a"}`})
		return llm.AssistantText("Well."), nil
	}), with(does("hang", func(ctx context.Context, _ tool.Report) (tool.Result, error) {
		_, again = b.Start(ctx, agent.Input{Messages: []llm.Message{text("go")}})
		b.Abort()
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})))
	if b.run("go"); !errors.Is(busy, agent.ErrBusy) {
		t.Errorf("during a run: %v", busy)
	}
	if _, err := b.Steer(t.Context(), text("later")); err != nil {
		t.Fatal(err)
	}
	e, err := b.Use(t.Context(), llm.ToolCall{Name: "hang", Arguments: "{}"})
	if err != nil || !errors.Is(again, agent.ErrBusy) {
		t.Fatalf("got %v; a run meanwhile: %v", err, again)
	}
	if m := e.Body.(session.Message); m.Outcome != session.OutcomeCancelled || len(b.drafts()) != 1 {
		t.Errorf("the outcome is %q, with %d drafts", m.Outcome, len(b.drafts()))
	}
}

// The next agent gives a call of a person its message if the process died while it ran.
func TestUseThatDies(t *testing.T) {
	b := newBench(t, "", nil)
	id := b.Session()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := b.store.Open(t.Context(), id, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Append(t.Context(), session.Stamp{}, session.CallStarted{Call: "c", Tool: "command", Arguments: []byte(`{"command":"make"}`)})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once and for all
		b.reopen(nil)
		same(t, b.texts(), `user "The user ran this:\n$ make\n\n" "The outcome is unknown: the process ended while it ran. It may have happened in part or completely."`)
	}
}
