package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// eventful is a run in which nearly everything happens: thinking, an answer that is saved in parts, one that begins anew,
// calls side by side and one after the other, bad calls, a denial, messages that come meanwhile.
const eventful = `
	think Well, well.
	text I look
	delay 300ms
	text  around.
	reset network "it broke"
	text I look around.
	delay 300ms
	call look {"path":"/a"}
	call nap {"for":"1s"}
	call nap {"for":"2s"}
	call command {"path":"x"}
	raw look {
	call crash
	usage input=10 output=5
	---
	text Now I change it.
	call change {"path":"/a"}
	call change {"path":"/b"}
	call change {"path":"/a"}
	---
	text Cut in the
	stop length
	---
	text  middle.
	---
	text And more.`

// twoMinds answers "again" with one word, and else from a script, by the history.
type twoMinds struct{ *llmtest.Client }

func (c twoMinds) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	if last := req.Messages[len(req.Messages)-1]; last.Text() == "again" {
		return llmtest.Stream(llm.AssistantText("Gladly."), 3)
	}
	return c.Client.Stream(ctx, req)
}

// eventfulBench has an agent that is about to live through the eventful run.
func eventfulBench(t *testing.T) *bench {
	t.Helper()
	client := llmtest.New(t, eventful, llmtest.ByHistory())
	b := clientBench(t, client, func(o *agent.Options) {
		o.Client = twoMinds{client}
		o.Gate = agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
			return agent.Verdict{Allow: !strings.Contains(c.Call.Arguments, "/b"), By: "rule"}
		})
	})
	queued(t, b, "", "later")
	return b
}

// checkUsable checks that whatever happened to a run, its journal is whole and the next run goes well.
func checkUsable(t *testing.T, b *bench) {
	t.Helper()
	checkJournal(t, b)
	for _, d := range b.Drafts() {
		if err := b.RemoveDraft(t.Context(), d.ID); err != nil {
			t.Error(err)
		}
	}
	events := b.run("again")
	endsWith(t, events, session.ReasonDone, "")
	checkJournal(t, b)
	checkStream(t, b, events)
	if got := b.outcomes(); !strings.HasSuffix(got, "user \"again\"\nassistant \"Gladly.\"") {
		t.Errorf("the conversation ends otherwise:\n%s", got)
	}
}

// numberOfEvents is how many events the eventful run has.
func numberOfEvents(t *testing.T) (n int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := eventfulBench(t)
		events := b.run("go")
		endsWith(t, events, session.ReasonDone, "")
		n = len(events)
		checkUsable(t, b)
	})
	if n < 50 {
		t.Fatalf("the run has but %d events", n)
	}
	return n
}

// Whoever leaves a run, and however, at whichever event: the journal is whole, every call has its result, the next run goes
// well, and nothing is left running.
func TestLeavingAtEveryEvent(t *testing.T) {
	ways := map[string]func(t *testing.T, b *bench, k int){
		"leave": func(t *testing.T, b *bench, k int) {
			n := 0
			for _, err := range b.Run(t.Context(), text("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == k {
					break
				}
			}
		},
		"abort": func(t *testing.T, b *bench, k int) {
			stopped(t, b.Run(t.Context(), text("go")), k, b.Abort)
		},
		"cancel": func(t *testing.T, b *bench, k int) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stopped(t, b.Run(ctx, text("go")), k, cancel)
		},
		"panic": func(t *testing.T, b *bench, k int) {
			defer func() {
				if p := recover(); p != k {
					t.Errorf("recovered %v, want what the consumer panicked with", p)
				}
			}()
			stopped(t, b.Run(t.Context(), text("go")), k, func() { panic(k) })
		},
		"end the goroutine": func(t *testing.T, b *bench, k int) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				stopped(t, b.Run(t.Context(), text("go")), k, runtime.Goexit) // as t.FailNow does
			}()
			<-done
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for k := 1; k <= numberOfEvents(t); k++ {
				t.Run(fmt.Sprint("event ", k), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := eventfulBench(t)
						way(t, b, k)
						did := b.log.String()
						time.Sleep(time.Hour)
						if b.log.String() != did {
							t.Errorf("tools went on after the run: %s, before %s", b.log, did)
						}
						checkUsable(t, b)
					})
				})
			}
		})
	}
}

// stopped follows a run and calls stop at event k. The run ends by itself then, as cancelled unless it was over.
func stopped(t *testing.T, run iter.Seq2[session.Event, error], k int, stop func()) {
	var events []session.Event
	for e, err := range run {
		if err != nil {
			t.Error(err)
		}
		if events = append(events, e); len(events) == k {
			stop()
		}
	}
	end := ending(t, events)
	if over := len(events) - k; end.Reason != session.ReasonCancelled && over > 2 {
		t.Errorf("the run ended as %s, %d events after it was stopped", end.Reason, over)
	}
}

// A consumer that leaves when it sees a call begin has it not done.
func TestLeavingAsACallBegins(t *testing.T) {
	b := newBench(t, "call change {\"path\":\"/a\"}", nil)
	for e := range b.Run(t.Context(), text("go")) {
		if _, ok := e.Body.(session.CallStarted); ok {
			break
		}
	}
	if b.log.String() != "" {
		t.Errorf("the tool did %s", b.log)
	}
	hasResult(t, result(t, b.journal()), session.OutcomeCancelled, "was not run")
	checkJournal(t, b)
}

// A consumer that panics does not wait for calls that hang: they are cancelled.
func TestPanicWhileACallHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "call nap\ncall command {\"path\":\"x\"}", nil)
		start := time.Now()
		func() {
			defer func() { _ = recover() }()
			for e := range b.Run(t.Context(), text("go")) {
				if _, ok := e.Body.(session.Progress); ok {
					panic("on purpose")
				}
			}
		}()
		if took := time.Since(start); took != 0 {
			t.Errorf("the panic took %s to pass through", took)
		}
		for _, m := range toolResults(b.journal()) {
			if m.Tool == "nap" {
				hasResult(t, m, session.OutcomeCancelled, "the run was cancelled")
			}
		}
		ends := bodies[session.RunEnded](b.journal())
		if len(ends) != 1 || ends[0].Reason != session.ReasonInterrupted || !strings.Contains(ends[0].Message, "panic") {
			t.Errorf("ends = %+v", ends)
		}
		checkJournal(t, b)
	})
}

// Why a run was cancelled is told.
func TestWhyARunWasCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "hang\n---\nhang\n---\nhang\n---\nhang", nil)
		time.AfterFunc(time.Second, b.Abort)
		endsWith(t, b.run("go"), session.ReasonCancelled, "the run was aborted")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		endsWith(t, collect(t, b.Run(ctx, text("go"))), session.ReasonCancelled, "the caller's deadline was reached")

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		endsWith(t, collect(t, b.Run(ctx, text("go"))), session.ReasonCancelled, "the run was cancelled")

		for e := range b.Run(t.Context(), text("go")) {
			if _, ok := e.Body.(session.MessageStarted); ok {
				break
			}
		}
		ends := bodies[session.RunEnded](b.journal())
		if last := ends[len(ends)-1]; last.Reason != session.ReasonCancelled || last.Message != "the run was left" {
			t.Errorf("end = %+v", last)
		}
		checkJournal(t, b)
	})
}

// A run on a context that has ended does not begin, and leaves no trace.
func TestContextThatHasEnded(t *testing.T) {
	b := newBench(t, "text never asked", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("too late")
	cancel(why)
	for _, run := range []iter.Seq2[session.Event, error]{b.Run(ctx, text("go")), b.Continue(ctx, agent.Continuation{})} {
		if events, err := drain(run); len(events) != 0 || !errors.Is(err, why) {
			t.Errorf("%d events and %v", len(events), err)
		}
	}
	if len(b.journal()) != 1 {
		t.Errorf("the journal has %v", b.journal())
	}
}

func TestAbortWithoutARun(t *testing.T) {
	b := newBench(t, "text Hello.", nil)
	b.Abort()
	endsWith(t, b.run("hi"), session.ReasonDone, "")
	b.Abort()
}

// A panic of a hook, the gate, the window or a filter passes through like one of the consumer.
func TestPanicsAroundTheRun(t *testing.T) {
	changes := map[string]func(o *agent.Options, boom func()){
		"filter": func(o *agent.Options, boom func()) {
			o.Filters = []agent.Filter{func(context.Context, llm.Message) agent.Screening { boom(); return agent.Screening{} }}
		},
		"gate": func(o *agent.Options, boom func()) {
			o.Gate = agent.GateFunc(func(context.Context, agent.Proposed) agent.Verdict { boom(); return agent.Verdict{Allow: true} })
		},
		"before run": func(o *agent.Options, boom func()) {
			o.Hooks.BeforeRun = func(context.Context, session.RunStarted) error { boom(); return nil }
		},
		"before tool": func(o *agent.Options, boom func()) {
			o.Hooks.BeforeTool = func(context.Context, llm.ToolCall) error { boom(); return nil }
		},
		"after tool": func(o *agent.Options, boom func()) {
			o.Hooks.AfterTool = func(context.Context, llm.ToolCall, session.Message) { boom() }
		},
		"after turn": func(o *agent.Options, boom func()) {
			o.Hooks.AfterTurn = func(context.Context, int, session.TurnEnded) { boom() }
		},
		"after run": func(o *agent.Options, boom func()) {
			o.Hooks.AfterRun = func(context.Context, session.RunEnded) { boom() }
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				armed := true
				boom := func() {
					if armed {
						armed = false
						panic("boom")
					}
				}
				b := newBench(t, "call nap {\"for\":\"9s\"}\ncall look {\"path\":\"/a\"}\n---\ntext Gladly.", func(o *agent.Options) {
					o.Client = twoMinds{o.Client.(*llmtest.Client)}
					change(o, boom)
				})
				func() {
					defer func() {
						if p := recover(); p != "boom" {
							t.Errorf("recovered %v", p)
						}
					}()
					_, _ = drain(b.Run(t.Context(), text("go")))
				}()
				checkUsable(t, b)
			})
		})
	}
}
