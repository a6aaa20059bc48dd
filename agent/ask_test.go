package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
)

// asking is a gate that asks about every call through the agent of the bench.
func asking(b **bench) agent.Gate {
	return decide(func(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
		q := session.Asking{}
		for _, c := range calls {
			q.Calls = append(q.Calls, ask.Call{Call: c.Call.ID, Tool: c.Call.Name, Arguments: c.Arguments, Reason: "why not"})
		}
		answers, err := (*b).Ask(ctx, q)
		verdicts := make([]agent.Verdict, len(calls))
		for i, a := range answers {
			verdicts[i] = agent.Verdict{Allow: a.Allow, By: "Ada", Reason: a.Reason}
		}
		return verdicts, err
	})
}

// dies lets the run of a bench die in the middle, as kill -9 does to a process: another agent takes the session over, and the old one cannot
// write any more.
func (b *bench) dies(change func(*agent.Options)) *bench {
	b.t.Helper()
	o := agent.Options{Client: b.client, Tools: b.log.tools(), TakeOver: true}
	change(&o)
	a, err := agent.Open(b.t.Context(), b.store, b.Session(), o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := a.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return &bench{Agent: a, t: b.t, store: b.store, client: b.client, log: b.log}
}

func allow(n int) []ask.Answer {
	answers := make([]ask.Answer, n)
	for i := range answers {
		answers[i].Allow = true
	}
	return answers
}

// openQuestion waits for a question and returns it.
func openQuestion(t *testing.T, b *bench) request.Question {
	t.Helper()
	for e, err := range b.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(session.Asking); ok {
			return b.Requests().Questions[0]
		}
	}
	panic("the stream ended")
}

const questionable = "call look {\"path\":\"/a\"}\ncall change {\"path\":\"/b\"}\n---\ntext Done."

// A question outlives its process. The next process that opens the session sees it. An answer lets the calls run when the session continues,
// whether it comes before or after that.
func TestAQuestionOutlivesItsProcess(t *testing.T) {
	for _, when := range []string{"before it continues", "after", "while no process writes the session"} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b *bench
				b = newBench(t, questionable, func(o *agent.Options) { o.Gate = asking(&b) })
				if _, err := b.Start(t.Context(), agent.Input{Messages: []llm.Message{text("go")}}); err != nil {
					t.Fatal(err)
				}
				q := openQuestion(t, b)
				respond := func() {
					if _, err := request.Send(context.Background(), b.store, b.Session(), session.Answered{ID: q.ID, Answers: allow(2)}); err != nil {
						t.Error(err)
					}
				}
				if when == "while no process writes the session" {
					w, err := b.store.Open(t.Context(), b.Session(), session.Lease{TakeOver: true})
					if err != nil {
						t.Fatal(err)
					}
					_ = w.Close()
					// The old agent notices the loss with its next entry.
					b.Abort()
					synctest.Wait()
					respond()
				}
				var next *bench
				next = b.dies(func(o *agent.Options) { o.Gate = asking(&next) })
				open := next.Requests().Questions
				if len(open) != 1 || open[0].ID != q.ID {
					t.Fatalf("open questions: %+v", open)
				}
				switch when {
				case "before it continues":
					respond()
				case "after":
					time.AfterFunc(time.Second, respond)
				}
				endsWith(t, collect(t, next.Continue(t.Context(), agent.Continuation{})), session.ReasonDone, "")
				same(t, next.outcomes(), `
					user "go"
					assistant call look call change
					tool look ok "seen /a"
					tool change ok "changed /b"
					assistant "Done."`)
				if left := next.Requests().Questions; len(left) > 0 {
					t.Errorf("still open: %+v", left)
				}
				if n := len(bodies[session.Asking](next.journal())); n != 1 {
					t.Errorf("the question was asked %d times", n)
				}
				checkJournal(t, next)
				b.Abort()
			})
		})
	}
}

// New input withdraws a question that outlived its process: its calls do not run any more.
func TestNewInputWithdrawsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b, next *bench
		b = newBench(t, questionable, func(o *agent.Options) { o.Gate = asking(&b) })
		if _, err := b.Start(t.Context(), agent.Input{Messages: []llm.Message{text("go")}}); err != nil {
			t.Fatal(err)
		}
		q := openQuestion(t, b)
		next = b.dies(func(o *agent.Options) { o.Gate = asking(&next) })
		next.run("never mind")
		same(t, next.outcomes(), `
			user "go"
			assistant call look call change
			tool look skipped "This call was not run: a new message came before it was allowed."
			tool change skipped "This call was not run: a new message came before it was allowed."
			user "never mind"
			assistant "Done."`)
		if _, err := next.Request(t.Context(), session.Answered{ID: q.ID, Answers: allow(2)}); !late(err) {
			t.Errorf("an answer after that: %v", err)
		}
		checkJournal(t, next)
		b.Abort()
	})
}

// A question of another agent, such as a sub-agent in the background, stays open while the owner begins a run. It ends with the process.
func TestNewInputKeepsTheQuestionOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "text Hi.\n---\ntext Hi.", nil)
		b.run("go")
		asked := session.Asking{Calls: []ask.Call{{Call: "task/1", Tool: "change", Reason: "why not"}}}
		answers := make(chan []ask.Answer)
		asks := func(ctx context.Context) {
			got, err := b.Ask(ctx, asked)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			answers <- got
		}
		go asks(t.Context())
		q := openQuestion(t, b)
		b.run("something else")
		if _, err := b.Request(t.Context(), session.Answered{ID: q.ID, Answers: allow(1)}); err != nil {
			t.Fatal(err)
		}
		if got := <-answers; len(got) != 1 || !got[0].Allow {
			t.Errorf("the answers are %+v", got)
		}

		ctx, cancel := context.WithCancel(t.Context())
		go asks(ctx)
		synctest.Wait()
		if n := len(b.Requests().Questions); n != 1 {
			t.Errorf("%d open questions", n)
		}
		next := b.dies(func(*agent.Options) {})
		if open := next.Requests().Questions; len(open) != 0 {
			t.Errorf("open questions after the process: %+v", open)
		}
		cancel()
		<-answers
		checkJournal(t, next)
	})
}

// A question that asks something else than the one before it is a new one: an answer holds for what a person saw.
func TestAnotherQuestionAboutTheSameCall(t *testing.T) {
	b := newBench(t, "text x", nil)
	ask := func(reason string) session.Asking {
		return session.Asking{Calls: []ask.Call{{Call: "c", Tool: "look", Arguments: []byte("{}"), Reason: reason}}}
	}
	old := ask("old")
	old.ID = "q"
	if err := b.Record(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Request(t.Context(), session.Answered{ID: "q", Answers: allow(1)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if answers, err := b.Ask(ctx, ask("new")); err == nil {
		t.Errorf("the answer to another question counts: %+v", answers)
	}
	if answers, err := b.Ask(t.Context(), func() session.Asking {
		q := ask("again")
		q.Until = session.Now()
		return q
	}()); err != agent.ErrUnanswered && err == nil {
		t.Errorf("%+v, %v", answers, err)
	}
}

// If the disk is full when a person answers, only the answer fails: the question stays open, and another answer counts once there is space.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	store := &failingStore{Store: memory.New(), good: 1000}
	b := &bench{t: t, store: store, client: llmtest.New(t, questionable), log: &callLog{}}
	store.client = b.client
	a, err := agent.New(t.Context(), store, agent.Options{Client: b.client, Tools: b.log.tools(), Gate: asking(&b)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b.Agent = a
	ended := make(chan []session.Event)
	go func() {
		events, _ := drain(b.Run(t.Context(), text("go"))) // the last event says how it ended
		ended <- events
	}()
	answer := session.Answered{ID: openQuestion(t, b).ID, Answers: allow(2)}
	store.good = 0
	if _, err := b.Request(t.Context(), answer); !errors.Is(err, session.ErrFull) {
		t.Fatalf("the answer on a full disk: %v", err)
	}
	store.good = 1000
	if _, err := b.Request(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	endsWith(t, <-ended, session.ReasonDone, "")
	checkJournal(t, b)
}
