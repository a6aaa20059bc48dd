package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/tool"
)

// Everything that Set changes takes effect at the next turn of the run that is on, with one epoch.
func TestSetDuringARun(t *testing.T) {
	b := newBench(t, "call command {\"path\":\"x\"}\n---\ntext never asked", nil)
	other := llmtest.New(t, "call fresh\n---\ntext Zwei.", llmtest.WithModel(llm.Model{Provider: "test", ID: "other"}))
	fresh := does("fresh", func(ctx context.Context, _ tool.Report) (tool.Result, error) {
		if agent.RunOf(ctx) == "" || agent.SessionOf(ctx) != b.Session() || agent.CallID(ctx) == "" {
			t.Errorf("run %q, session %q, call %q", agent.RunOf(ctx), agent.SessionOf(ctx), agent.CallID(ctx))
		}
		return tool.TextResult("done"), nil
	})
	system, limits := "Be brief.", agent.Limits{Turns: 3}
	b.log.working = func() {
		err := b.Set(t.Context(), agent.Change{
			Client: other, Tools: []tool.Tool{fresh}, System: &system, Settings: &llm.Settings{MaxTokens: 77}, Limits: &limits, Gate: agent.AllowAll(),
		})
		if err != nil {
			t.Error(err)
		}
	}
	events := b.run("go")
	endsWith(t, events, session.ReasonDone, "")
	epochs := bodies[session.Epoch](events)
	if len(epochs) != 2 || epochs[1].System != system || epochs[1].Model.ID != "other" || len(epochs[1].Tools) != 1 {
		t.Errorf("epochs = %+v", epochs)
	}
	if req := other.Requests()[0]; req.MaxTokens != 77 || req.System != system {
		t.Errorf("the request has the limit %d and the system prompt %q", req.MaxTokens, req.System)
	}
	if err := b.Set(t.Context(), agent.Change{Tools: []tool.Tool{fresh, fresh}}); err == nil {
		t.Error("two tools of one name are taken")
	}
}

// An earlier message is edited and sent again: the new one comes after the entry before it, on a branch of its own.
func TestAMessageIsEditedAndSentAgain(t *testing.T) {
	b := clientBench(t, llmtest.Func(echo), nil)
	b.run("one")
	b.run("two")
	var before session.ID
	for _, e := range b.journal() {
		if m, ok := e.Body.(session.Message); ok && m.Text() == "two" {
			before = e.Parent
		}
	}
	run, err := b.Start(t.Context(), agent.Input{Messages: []llm.Message{text("deux")}, Continuation: agent.Continuation{From: before}})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range b.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ended := e.Body.(session.RunEnded); ended && e.Run == run {
			break
		}
	}
	same(t, b.texts(), "user \"one\"\nassistant \"ONE\"\nuser \"deux\"\nassistant \"DEUX\"")
	if all := bodies[session.Message](b.journal()); len(all) != 6 {
		t.Errorf("the journal has %d messages", len(all))
	}
}

// While no run is on, the session can be written by others through the agent: the branch goes back without a reopening.
func TestExclusive(t *testing.T) {
	var b *bench
	b = clientBench(t, llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
		if err := b.Exclusive(ctx, func(session.Writer) error { return nil }); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("during a run: %v", err)
		}
		return echo(ctx, req)
	}), nil)
	b.run("one")
	end := b.journal()[len(b.journal())-1].ID
	b.run("two")
	err := b.Exclusive(t.Context(), func(w session.Writer) error {
		if _, err := drain(b.Run(t.Context(), text("no"))); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("a run meanwhile: %v", err)
		}
		_, err := w.Append(t.Context(), session.Stamp{}, session.Head{To: end, Reason: "rewind"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.run("three")
	same(t, b.texts(), "user \"one\"\nassistant \"ONE\"\nuser \"three\"\nassistant \"THREE\"")
	checkJournal(t, b)
}

func TestAnAgentNeedsAStore(t *testing.T) {
	_, err := agent.New(t.Context(), nil, agent.Options{Client: llmtest.Func(echo)})
	if err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("error = %v", err)
	}
}

// The name of an agent is that of its runs in the usage.
func TestAnAgentHasAName(t *testing.T) {
	b := clientBench(t, llmtest.Func(echo), func(o *agent.Options) { o.Name = "reviewer" })
	starts := bodies[session.RunStarted](b.run("go"))
	if !slices.ContainsFunc(starts, func(s session.RunStarted) bool { return s.Tag == "reviewer" }) {
		t.Errorf("starts = %+v", starts)
	}
}

// The program executes requests of other processes to change the agent, and the journal has the outcome. This includes requests that were
// made while no process wrote the session.
func TestChangesByRequest(t *testing.T) {
	b := clientBench(t, llmtest.Func(echo), nil)
	request := func(c session.Change) session.Event {
		e, err := request.Send(t.Context(), b.store, b.Session(), c)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	outcome := func(request session.Event) session.Changed {
		for e, err := range b.Follow(t.Context(), request.Seq) {
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := e.Body.(session.Changed); ok && c.Request == request.ID {
				return c
			}
		}
		return session.Changed{}
	}
	if got := outcome(request(session.Change{Mode: "plan"})); got.Code != "agent.unchangeable" || got.Error == "" {
		t.Errorf("without a program that can: %+v", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	early := request(session.Change{Model: "test/other"})
	var done []string
	opened, other := make(chan struct{}), llmtest.Func(echo)
	b.reopen(func(o *agent.Options) {
		o.Change = func(ctx context.Context, c session.Change) error {
			<-opened // as a program that makes more than the agent before it can change it
			done = append(done, c.Model+c.Mode)
			if c.Mode == "yolo" {
				return codedError{errors.New("not here")}
			}
			if c.Model == "" {
				return nil
			}
			return b.SetClient(ctx, other)
		}
	})
	close(opened)
	b.run("go") // the first run is with the other model
	if got := outcome(early); got.Error != "" {
		t.Errorf("outcome %+v", got)
	}
	if n := len(other.Requests()); n != 1 {
		t.Errorf("the other model had %d requests", n)
	}
	if got := outcome(request(session.Change{Mode: "yolo"})); got.Error != "not here" || got.Code != "test.coded" {
		t.Errorf("outcome %+v", got)
	}
	same(t, strings.Join(done, " "), "test/other yolo")
}
