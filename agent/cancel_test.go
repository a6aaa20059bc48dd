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
	"github.com/tenon-agent/tenon/session/live"
)

// eventful is a run in which nearly everything happens: thinking, an answer that is saved in parts, one that restarts,
// concurrent and sequential calls, bad calls, a denial, messages that arrive meanwhile.
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
	for _, d := range b.drafts() {
		if err := b.remove(t.Context(), d.ID); err != nil {
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

// A consumer may stop reading the events of a run at any event and in any way. The run continues to its end.
func TestLeavingAtEveryEvent(t *testing.T) {
	ways := map[string]func(t *testing.T, b *bench, k int){
		"leave": func(t *testing.T, b *bench, k int) { at := 0; leaving(t, b, func() bool { at++; return at == k }) },
		"panic": func(t *testing.T, b *bench, k int) {
			defer func() {
				if p := recover(); p != k {
					t.Errorf("recovered %v, want what the listener panicked with", p)
				}
			}()
			at := 0
			leaving(t, b, func() bool {
				if at++; at == k {
					panic(k)
				}
				return false
			})
		},
		"end the goroutine": func(t *testing.T, b *bench, k int) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				at := 0
				leaving(t, b, func() bool {
					if at++; at == k {
						runtime.Goexit() // as t.FailNow does
					}
					return false
				})
			}()
			<-done
		},
	}
	whole := ""
	synctest.Test(t, func(t *testing.T) {
		b := eventfulBench(t)
		b.run("go")
		whole = b.outcomes()
	})
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for k := 1; k <= numberOfEvents(t); k++ {
				t.Run(fmt.Sprint("event ", k), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := eventfulBench(t)
						way(t, b, k)
						time.Sleep(time.Hour)
						if got := b.outcomes(); got != whole {
							t.Errorf("the run ended otherwise:\n%s\nwant:\n%s", got, whole)
						}
						checkUsable(t, b)
					})
				})
			}
		})
	}
}

// leaving follows a run until leave says so.
func leaving(t *testing.T, b *bench, leave func() bool) {
	for _, err := range b.Run(t.Context(), text("go")) {
		if err != nil {
			t.Error(err)
		}
		if leave() {
			break
		}
	}
}

// A run is stopped as soon as one of its entries is durable, whichever it is: the journal is whole, every call has its result, the next run
// goes well, and nothing is left running.
func TestStoppingAtEveryEntry(t *testing.T) {
	ways := map[string]func(t *testing.T, b *bench) (ctx context.Context, stop func()){
		"abort": func(t *testing.T, b *bench) (context.Context, func()) { return t.Context(), b.Abort },
		"cancel": func(t *testing.T, b *bench) (context.Context, func()) {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			return ctx, cancel
		},
	}
	entries := int64(0)
	synctest.Test(t, func(t *testing.T) {
		b := eventfulBench(t)
		b.run("go")
		entries = int64(len(b.journal()))
	})
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for k := int64(3); k <= entries; k++ { // before are the session and a draft
				t.Run(fmt.Sprint("entry ", k), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := eventfulBench(t)
						ctx, stop := way(t, b)
						b.at.Store(&mark{k, stop})
						events := collect(t, b.Run(ctx, text("go")))
						last := events[len(events)-1].Seq
						if end := ending(t, events); end.Reason != session.ReasonCancelled && last > k+1 {
							t.Errorf("the run ended as %s, %d entries after it was stopped", end.Reason, last-k)
						}
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

// A run that is aborted when a call begins has it not done.
func TestAbortAsACallBegins(t *testing.T) {
	b := newBench(t, "call change {\"path\":\"/a\"}", nil)
	b.at.Store(&mark{7, b.Abort})
	events := b.run("go")
	if started := bodies[session.CallStarted](events); len(started) != 1 {
		t.Fatalf("calls that started: %v\n%s", started, trace(events))
	}
	if b.log.String() != "" {
		t.Errorf("the tool did %s", b.log)
	}
	hasResult(t, result(t, b.journal()), session.OutcomeCancelled, "was not run")
	checkJournal(t, b)
}

// The end of a run names the cause of its cancellation.
func TestWhyARunWasCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "hang\n---\nhang\n---\nhang", nil)
		time.AfterFunc(time.Second, b.Abort)
		endsWith(t, b.run("go"), session.ReasonCancelled, "the run was aborted")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		endsWith(t, collect(t, b.Run(ctx, text("go"))), session.ReasonCancelled, "the caller's deadline was reached")

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		endsWith(t, collect(t, b.Run(ctx, text("go"))), session.ReasonCancelled, "the run was cancelled")

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

// A panic of a hook, the gate, the window or a filter ends the run, not the program.
func TestPanicsAroundTheRun(t *testing.T) {
	changes := map[string]func(o *agent.Options, boom func()){
		"filter": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{Prompt: func(context.Context, session.Message) (string, error) { boom(); return "", nil }})
		},
		"gate": func(o *agent.Options, boom func()) {
			o.Gate = agent.GateFunc(func(context.Context, agent.Proposed) agent.Verdict { boom(); return agent.Verdict{Allow: true} })
		},
		"before run": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{BeforeRun: func(context.Context, session.RunStarted) error { boom(); return nil }})
		},
		"before call": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{BeforeCall: func(context.Context, agent.Proposed) (string, error) { boom(); return "", nil }})
		},
		"after call": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{AfterCall: func(_ context.Context, _ agent.Proposed, m session.Message) (session.Message, error) {
				boom()
				return m, nil
			}})
		},
		"after turn": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{AfterTurn: func(context.Context, int, live.TurnEnded) { boom() }})
		},
		"after run": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{AfterRun: func(context.Context, session.RunEnded) { boom() }})
		},
		"before end": func(o *agent.Options, boom func()) {
			hook(o, agent.Hook{BeforeEnd: func(context.Context, llm.Message) string { boom(); return "" }})
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
				_, err := drain(b.Run(t.Context(), text("go")))
				if p, ok := errors.AsType[*agent.PanicError](err); !ok || p.Value != "boom" {
					t.Errorf("error = %v", err)
				}
				checkUsable(t, b)
			})
		})
	}
}
