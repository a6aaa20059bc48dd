package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
)

// died makes an agent from what a process left behind that died in a run.
func died(t *testing.T, script string, left ...session.Body) *bench {
	t.Helper()
	b := &bench{t: t, store: memory.New(), client: llmtest.New(t, script), log: &callLog{}}
	id, err := b.store.Create(t.Context(), session.Created{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.store.Open(t.Context(), id, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	run := session.NewID()
	for _, body := range left {
		if start, ok := body.(session.RunStarted); ok {
			start.Run = run
			body = start
		}
		if _, err := w.Append(t.Context(), session.Stamp{Run: run, Turn: 1}, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(t.Context(), b.store, id, agent.Options{
		Client: b.client, Tools: b.log.tools(), Gate: agent.AllowAll(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	b.Agent = a
	return b
}

func call(id, name string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: `{"path":"/a"}`}
}

func calls(all ...llm.ToolCall) session.Message {
	m := llm.Message{Role: llm.RoleAssistant, Stop: llm.StopCalls}
	for _, c := range all {
		m.Content = append(m.Content, c)
	}
	return session.Message{Message: m}
}

func started(id, name string, again bool) session.CallStarted {
	return session.CallStarted{Call: id, Tool: name, Arguments: json.RawMessage(`{}`), Again: again}
}

// When the session is opened again, everything that was in progress when the process died gets an end, and the conversation
// continues. No call runs again automatically.
func TestOpenAfterACrash(t *testing.T) {
	start := session.RunStarted{Trigger: live.TriggerUser}
	input := session.Message{Message: text("go")}
	tests := []struct {
		name string
		left []session.Body
		want string // the conversation after it was continued
	}{
		{"before the answer", []session.Body{start, input}, `
			user "go"
			assistant "Well."`},
		{"within the answer", []session.Body{start, input, session.Partial{Content: llm.Content{llm.Text{Text: "We"}}}}, `
			user "go"
			assistant "Well."`},
		{"before the calls", []session.Body{start, input, calls(call("1", "look"), call("2", "change"))}, `
			user "go"
			assistant call look call change
			tool look not_started "This call was not started: the process ended before. Nothing of it happened; it can be called again."
			tool change not_started "This call was not started: the process ended before. Nothing of it happened; it can be called again."
			assistant "Well."`},
		{"within the calls", []session.Body{
			start, input, calls(call("1", "look"), call("2", "change"), call("3", "look"), call("4", "command")),
			started("1", "look", true), started("2", "change", false), started("3", "look", true),
			session.Message{Message: llm.ToolText(call("3", "look"), "seen", false)},
		}, `
			user "go"
			assistant call look call change call look call command
			tool look interrupted "This call was interrupted: the process ended while it ran. It does no harm to call it again."
			tool change unknown "The outcome of this call is unknown: the process ended while it ran. It may have happened in part or whole. Look at what is there before you call it again."
			tool look ok "seen"
			tool command not_started "This call was not started: the process ended before. Nothing of it happened; it can be called again."
			assistant "Well."`},
		{"after the calls", []session.Body{
			start, input, calls(call("1", "look")), started("1", "look", true),
			session.Message{Message: llm.ToolText(call("1", "look"), "seen", false)},
		}, `
			user "go"
			assistant call look
			tool look ok "seen"
			assistant "Well."`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := died(t, "text Well.", test.left...)
			ends := bodies[session.RunEnded](b.journal())
			if len(ends) != 1 || ends[0].Reason != session.ReasonInterrupted {
				t.Fatalf("ends = %+v", ends)
			}
			checkJournal(t, b)
			before := len(b.journal())
			b.reopen(nil)
			if len(b.journal()) != before {
				t.Error("a second opening adds to the journal")
			}
			lost := bodies[session.RunStarted](b.journal())[0].Run
			events := collect(t, b.Continue(t.Context(), agent.Continuation{}))
			endsWith(t, events, session.ReasonDone, "")
			if got := bodies[session.RunStarted](events)[0].ParentRun; got != lost {
				t.Errorf("parent run = %q, want %q", got, lost)
			}
			same(t, b.outcomes(), test.want)
			if b.log.String() != "" {
				t.Errorf("tools did %s", b.log)
			}
			checkJournal(t, b)
		})
	}
}

// A run that could not begin left no trace, so none can be said to go on from it.
func TestARunThatDidNotBeginHasNoSuccessor(t *testing.T) {
	b := newBench(t, "error network\n---\ntext Well.", nil)
	_, _ = agent.Wait(b.Run(t.Context(), text("go")))
	first := bodies[session.RunStarted](b.journal())[0].Run
	for _, err := range b.Run(t.Context()) {
		if err == nil {
			t.Fatal("a run without a message begins")
		}
	}
	events := collect(t, b.Continue(t.Context(), agent.Continuation{}))
	if got := bodies[session.RunStarted](events)[0].ParentRun; got != first {
		t.Errorf("parent run = %q, want %q", got, first)
	}
}

// A run can go on where there is something to answer, and nowhere else.
func TestWhereARunCanGoOn(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext Four.\n---\ntext Five.\n---\ntext Six.\n---\ntext Seven.", nil)
	fails := func(how agent.Continuation, says string) {
		t.Helper()
		before := len(b.journal())
		events, err := drain(b.Continue(t.Context(), how))
		if err == nil || !strings.Contains(err.Error(), says) || len(events) > 0 || len(b.journal()) != before {
			t.Errorf("%+v: %d events, %v; want %q and no trace", how, len(events), err, says)
		}
	}
	fails(agent.Continuation{}, "there is no message to go on from")
	fails(agent.Continuation{Kind: session.ContinuesRerun}, "there is no message to answer again")
	fails(agent.Continuation{Kind: session.ContinuesBranch}, "needs the entry to go on from")

	b.run("two and two?")
	entry := make(map[string]session.ID)
	for _, e := range b.journal() {
		if m, ok := e.Body.(session.Message); ok {
			entry[message(m)] = e.ID
		} else {
			entry[e.Body.Kind()] = e.ID
		}
	}
	answer, question, seen := entry[`assistant "Four."`], entry[`user "two and two?"`], entry[`tool look "seen /a"`]
	fails(agent.Continuation{}, "the last message is an answer")
	fails(agent.Continuation{From: question}, "to name an entry, use a rerun or a branch")
	fails(agent.Continuation{Kind: session.ContinuesRerun, From: answer}, "the last message is an answer")
	fails(agent.Continuation{Kind: session.ContinuesBranch, From: entry["assistant call look"]}, "the last message is an answer")
	fails(agent.Continuation{Kind: session.ContinuesBranch, From: entry["created"]}, "there is no message to go on from")
	fails(agent.Continuation{Kind: session.ContinuesBranch, From: "nowhere"}, "go on from entry nowhere")
	if _, err := drain(b.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesBranch, From: "nowhere"})); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an entry that is not there: %v", err)
	}

	events := collect(t, b.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesBranch, From: seen, Tag: "other"}))
	start := bodies[session.RunStarted](events)[0]
	if start.Tag != "other" || start.Trigger != live.TriggerBranch || start.Continues != session.ContinuesBranch || start.ParentRun == "" {
		t.Errorf("start = %+v", start)
	}
	same(t, b.texts(), `
		user "two and two?"
		assistant call look
		tool look "seen /a"
		assistant "Five."`)
	collect(t, b.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesRerun}))
	same(t, b.texts(), "user \"two and two?\"\nassistant \"Six.\"")
	collect(t, b.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesBranch, From: seen}))
	same(t, b.texts(), `
		user "two and two?"
		assistant call look
		tool look "seen /a"
		assistant "Seven."`)
	checkJournal(t, b)
}

// An answer that was cut off is replaced by the answer to the same question; the model does not see it.
func TestContinueReplacesACutAnswer(t *testing.T) {
	b := newBench(t, "text Hel\nerror network \"x\"\n---\ntext Good\ncut\n---\ntext Hello.", nil)
	_, _ = drain(b.Run(t.Context(), text("hi")))
	same(t, b.texts(), "user \"hi\"\nassistant \"Hel\" aborted")
	_, _ = drain(b.Continue(t.Context(), agent.Continuation{}))
	same(t, b.texts(), "user \"hi\"\nassistant \"Good\" aborted")
	collect(t, b.Continue(t.Context(), agent.Continuation{}))
	same(t, b.texts(), "user \"hi\"\nassistant \"Hello.\"")
	for i, req := range b.client.Requests() {
		if len(req.Messages) != 1 {
			t.Errorf("request %d has %d messages", i+1, len(req.Messages))
		}
	}
}

// Before new input, the agent settles a cut answer: the model sees what the person saw.
func TestNewInputAfterACutAnswer(t *testing.T) {
	cut := "think Hm.\ntext Hel\nerror network \"x\"\n---\ntext Well."
	want := `
		user "hi"
		assistant "Hel" aborted
		user %s"go on"
		assistant "Well."`
	t.Run("at once", func(t *testing.T) {
		b := newBench(t, cut, nil)
		_, _ = drain(b.Run(t.Context(), text("hi")))
		b.run("go on")
		same(t, b.texts(), strings.ReplaceAll(want, "%s", ""))
		if got := b.client.Requests()[1].Messages; len(got) != 3 || got[1].Text() != "Hel" {
			t.Errorf("the model was sent %+v", got)
		}
	})
	t.Run("after another model was chosen", func(t *testing.T) {
		b := newBench(t, cut, nil)
		_, _ = drain(b.Run(t.Context(), text("hi")))
		if err := b.SetClient(t.Context(), llmtest.New(t, "text Well.")); err != nil {
			t.Fatal(err)
		}
		b.run("go on")
		same(t, b.texts(), strings.ReplaceAll(want, "%s", ""))
	})
	t.Run("in another process", func(t *testing.T) {
		b := newBench(t, cut, nil)
		_, _ = drain(b.Run(t.Context(), text("hi")))
		b.reopen(nil)
		b.run("go on")
		same(t, b.texts(), strings.ReplaceAll(want, "%s", ""))
	})
	t.Run("by a message that waits", func(t *testing.T) {
		b := newBench(t, cut, nil)
		_, _ = drain(b.Run(t.Context(), text("hi")))
		queued(t, b, "", "")
		if _, err := b.Steer(t.Context(), text("go on")); err != nil {
			t.Fatal(err)
		}
		collect(t, b.Continue(t.Context(), agent.Continuation{}))
		same(t, b.texts(), strings.ReplaceAll(want, "%s", "steering "))
	})
	t.Run("of nothing but thoughts", func(t *testing.T) {
		b := newBench(t, "think Hm.\nerror network \"x\"\n---\ntext Well.", nil)
		_, _ = drain(b.Run(t.Context(), text("hi")))
		b.run("go on")
		same(t, b.texts(), "user \"hi\"\nuser \"go on\"\nassistant \"Well.\"")
	})
}

// If several callers change the model at the same time, the last change in the journal holds.
func TestSetClientFromManySides(t *testing.T) {
	b := newBench(t, "text Never.", nil)
	var all sync.WaitGroup
	for i := range 50 {
		client := llmtest.New(t, "text Well.", llmtest.WithModel(llm.Model{Provider: "test", ID: fmt.Sprint(i)}))
		all.Go(func() {
			if err := b.SetClient(t.Context(), client); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	changes := bodies[session.ModelChanged](b.journal())
	answer := bodies[live.MessageStarted](b.run("go"))[0]
	if got, want := answer.Model, changes[len(changes)-1].Model.Ref(); got != want {
		t.Errorf("%s answers, the journal says %s", got, want)
	}
}

// Another model begins another epoch, and says so.
func TestSetClient(t *testing.T) {
	b := newBench(t, "text One.\n---\ntext Two.", nil)
	b.run("one")
	other := llmtest.New(t, "call look {\"path\":\"/a\"}\n---\ntext Drei.", llmtest.WithModel(llm.Model{Provider: "test", ID: "other"}))
	if err := b.SetClient(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	events := b.run("two")
	epochs := bodies[session.Epoch](events)
	if len(epochs) != 1 || epochs[0].Reason != "model" || epochs[0].Model.ID != "other" {
		t.Errorf("epochs = %+v", epochs)
	}
	if got := bodies[session.RunStarted](events)[0].Config.Model.ID; got != "other" {
		t.Errorf("the run started with %s", got)
	}
	if err := b.SetClient(t.Context(), nil); err == nil {
		t.Error("no model at all is taken")
	}
	same(t, b.texts(), `
		user "one"
		assistant "One."
		user "two"
		assistant call look
		tool look "seen /a"
		assistant "Drei."`)
	if changed := bodies[session.ModelChanged](b.journal()); len(changed) != 1 || changed[0].Model.ID != "other" {
		t.Errorf("changes in the journal: %+v", changed)
	}
}

// A model may be changed while a run is on: it answers from the next turn on.
func TestSetClientDuringARun(t *testing.T) {
	b := newBench(t, "call command {\"path\":\"/a\"}\n---\ntext never asked", nil)
	other := llmtest.New(t, "text Zwei.", llmtest.WithModel(llm.Model{Provider: "test", ID: "other"}))
	b.log.working = func() {
		if err := b.SetClient(t.Context(), other); err != nil {
			t.Error(err)
		}
	}
	events := b.run("go")
	if got := bodies[session.Message](events); got[len(got)-1].Text() != "Zwei." || got[len(got)-1].Model != "test/other" {
		t.Errorf("last message = %+v", got[len(got)-1])
	}
	checkStream(t, b, events)
	checkJournal(t, b)
}

// The state view shows people what the agent is about, while it works and afterwards.
func TestStateOfARun(t *testing.T) {
	b := newBench(t, `
		text <intent>See what is there.</intent> I look.
		call look {"path":"/a"}
		call change {"path":"/b"}
		---
		text Done.`, func(o *agent.Options) { o.Gate = agent.ReadOnly() })
	b.at.Store(&mark{9, func() { // the call begins
		s, err := view.StateOf(t.Context(), b.Path())
		if err != nil || !s.Running || s.Intent != "See what is there." || len(s.Tools) != 2 || s.Tools[0].Done || !s.Tools[1].Done {
			t.Errorf("during the run: %+v, %v", s, err)
		}
	}})
	b.run("go")
	s, err := view.StateOf(t.Context(), b.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s.Running || s.Ended == nil || s.Ended.Reason != session.ReasonDone || s.Denials != 1 || s.Model != "test/script" {
		t.Errorf("after the run: %+v", s)
	}
	if len(s.Tools) != 2 || s.Tools[0].Tool != "look" || s.Tools[1].Outcome != session.OutcomeDenied {
		t.Errorf("tools = %+v", s.Tools)
	}
}

// The runs of a sub-agent say whose they are.
func TestSubAgent(t *testing.T) {
	b := newBench(t, "text One.\n---\ntext Two.\n---\ntext Three.", func(o *agent.Options) { o.SubAgent, o.ParentRun = true, "parent" })
	for range 2 {
		start := bodies[session.RunStarted](b.run("go"))[0]
		if start.Trigger != live.TriggerSubAgent || start.ParentRun != "parent" {
			t.Errorf("start = %+v", start)
		}
	}
}

// Calls without a name of their own, or with the same, get one, so that each has its result.
func TestCallsWithoutAName(t *testing.T) {
	b := newBench(t, "call#x look {\"path\":\"/a\"}\ncall#x look {\"path\":\"/b\"}\n---\ntext So.", nil)
	b.run("go")
	same(t, b.outcomes(), `
		user "go"
		assistant call look call look
		tool look ok "seen /a"
		tool look ok "seen /b"
		assistant "So."`)
	checkJournal(t, b)
}

// Models come and go from another goroutine while a run reads and writes its branch.
func TestSetClientFromAnotherGoroutine(t *testing.T) {
	b := newBench(t, looks(30, "")+"text Done.", nil)
	var changes sync.WaitGroup
	now := make(chan struct{}, 1000) // a change for every event, while the run goes on
	changes.Go(func() {
		for range now {
			if err := b.SetClient(t.Context(), b.client); err != nil {
				t.Error(err)
			}
		}
	})
	var events []session.Event
	for e, err := range b.Run(t.Context(), text("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, e); !e.Durable() {
			now <- struct{}{}
		}
	}
	close(now)
	changes.Wait()
	endsWith(t, events, session.ReasonDone, "")
	checkJournal(t, b)
}
