package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
)

// echo is a model that repeats the last message in capitals.
func echo(_ context.Context, req *llm.Request) (llm.Message, error) {
	last := req.Messages[len(req.Messages)-1]
	return llm.AssistantText(strings.ToUpper(last.Text())), nil
}

// queued fills both lanes of an agent.
func queued(t *testing.T, b *bench, steering, followUps string) {
	t.Helper()
	for word := range strings.FieldsSeq(steering) {
		if _, err := b.Steer(t.Context(), text(word)); err != nil {
			t.Fatal(err)
		}
	}
	for word := range strings.FieldsSeq(followUps) {
		if _, err := b.FollowUp(t.Context(), text(word)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeliveries(t *testing.T) {
	tests := []struct {
		name               string
		steering, followUp agent.Delivery
		want               string
	}{
		{"one at a time", agent.OneAtATime, agent.OneAtATime, `
			user "go"
			user steering "s1"
			assistant "S1"
			user steering "s2"
			assistant "S2"
			user follow_up "f1"
			assistant "F1"
			user follow_up "f2"
			assistant "F2"`},
		{"all", agent.All, agent.All, `
			user "go"
			user steering "s1"
			user steering "s2"
			assistant "S2"
			user follow_up "f1"
			user follow_up "f2"
			assistant "F2"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := clientBench(t, llmtest.Func(echo), func(o *agent.Options) {
				o.Steering, o.FollowUps = test.steering, test.followUp
			})
			queued(t, b, "s1 s2", "f1 f2")
			endsWith(t, b.run("go"), session.ReasonDone, "")
			same(t, b.texts(), test.want)
			if left := b.drafts(); len(left) != 0 {
				t.Errorf("drafts are left: %v", left)
			}
			checkJournal(t, b)
		})
	}
}

// A message that comes while the last answer streams is answered in the same run.
func TestSteeringDuringTheLastAnswer(t *testing.T) {
	var b *bench
	b = clientBench(t, llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
		if len(req.Messages) == 1 {
			queued(t, b, "left right", "")
		}
		return echo(ctx, req)
	}), nil)
	b.run("go")
	same(t, b.texts(), `
		user "go"
		assistant "GO"
		user steering "left"
		assistant "LEFT"
		user steering "right"
		assistant "RIGHT"`)
	checkJournal(t, b)
}

// Steering does not disturb calls that have begun. The agent skips the other calls, in every mode of execution.
func TestSteeringBetweenCalls(t *testing.T) {
	script := `
		call look {"path":"1"}
		call command {"path":"2"}
		call command {"path":"3"}
		---
		text As you wish.`
	for _, how := range []agent.Execution{agent.Parallel(), agent.Sequential(), agent.Batched(2)} {
		t.Run(how.String(), func(t *testing.T) {
			var b *bench
			b = newBench(t, script, func(o *agent.Options) {
				o.Execution = how
				hook(o, agent.Hook{AfterCall: func(_ context.Context, c agent.Proposed, m session.Message) (session.Message, error) {
					if strings.Contains(c.Call.Arguments, "2") {
						queued(t, b, "stop", "")
					}
					return m, nil
				}})
			})
			b.run("go")
			same(t, b.outcomes(), `
				user "go"
				assistant call look call command call command
				tool look ok "seen 1"
				tool command ok "did 2"
				tool command skipped "This call was not run: a new message came first."
				user steering "stop"
				assistant "As you wish."`)
			checkJournal(t, b)
		})
	}
}

func TestDraftsCanBeChangedUntilTheyAreTaken(t *testing.T) {
	ctx := t.Context()
	b := clientBench(t, llmtest.Func(echo), nil)
	add := func(s string) request.Draft {
		d, err := b.FollowUp(ctx, text(s))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one, two, three := add("one"), add("two"), add("three")
	if err := b.edit(ctx, two.ID, "zwei"); err != nil {
		t.Error(err)
	}
	if err := b.remove(ctx, one.ID); err != nil {
		t.Error(err)
	}
	same(t, draftTexts(b), `follow_up zwei, follow_up three`)
	b.run("go")
	same(t, b.texts(), `
		user "go"
		assistant "GO"
		user follow_up "zwei"
		assistant "ZWEI"
		user follow_up "three"
		assistant "THREE"`)
	for _, id := range []session.ID{one.ID, two.ID, three.ID, "", "nonsense"} {
		if err := b.edit(ctx, id, "late"); !late(err) {
			t.Errorf("edit of draft %q: %v, want a late error", id, err)
		}
		if err := b.remove(ctx, id); !late(err) {
			t.Errorf("removal of draft %q: %v, want a late error", id, err)
		}
	}
}

// A draft starts one run.
func TestRunFromADraft(t *testing.T) {
	b := clientBench(t, llmtest.Func(echo), nil)
	d, err := b.FollowUp(t.Context(), text("one"))
	if err != nil {
		t.Fatal(err)
	}
	in := agent.Input{Messages: []llm.Message{d.Message.Message}, Draft: d.ID}
	for _, want := range []bool{false, true} {
		if _, err := drain(b.Do(t.Context(), in)); late(err) != want {
			t.Errorf("the error is %v, want a late one: %v", err, want)
		}
	}
	same(t, b.texts(), "user \"one\"\nassistant \"ONE\"")
}

func draftTexts(b *bench) string {
	var out []string
	for _, d := range b.drafts() {
		out = append(out, string(d.Lane)+" "+d.Message.Text())
	}
	return strings.Join(out, ", ")
}

// A queue outlives its process: it is in the journal.
func TestDraftsOutliveTheAgent(t *testing.T) {
	ctx := t.Context()
	b := clientBench(t, llmtest.Func(echo), nil)
	queued(t, b, "steer gone", "follow")
	drafts := b.drafts()
	if err := b.edit(ctx, drafts[0].ID, "steer well"); err != nil {
		t.Fatal(err)
	}
	if err := b.remove(ctx, drafts[1].ID); err != nil {
		t.Fatal(err)
	}
	b.reopen(nil)
	same(t, draftTexts(b), "steering steer well, follow_up follow")
	b.run("go")
	b.reopen(nil)
	if len(b.drafts()) != 0 {
		t.Errorf("drafts that were taken are back: %v", b.drafts())
	}
}

// Drafts that wait when a run is aborted are kept for the next.
func TestDraftsOutliveAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "hang\n---\ntext Well.\n---\ntext So.", nil)
		go func() {
			time.Sleep(time.Second)
			queued(t, b, "turn", "later")
			b.Abort()
		}()
		endsWith(t, b.run("go"), session.ReasonCancelled, "aborted")
		same(t, draftTexts(b), "steering turn, follow_up later")
		endsWith(t, collect(t, b.Continue(t.Context(), agent.Continuation{})), session.ReasonDone, "")
		same(t, b.texts(), `
			user "go"
			user steering "turn"
			assistant "Well."
			user follow_up "later"
			assistant "So."`)
	})
}

// Fifty goroutines steer while a run is on. The stream stays one consistent sequence: the entries in it are those of the
// journal, in its order, and every message arrives once.
func TestSteeringFromManyGoroutines(t *testing.T) {
	const people = 50
	start := make(chan struct{})
	var all sync.WaitGroup
	b := clientBench(t, llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
		if len(req.Messages) == 1 {
			close(start)
			all.Wait()
		}
		return echo(ctx, req)
	}), func(o *agent.Options) { o.Limits.Turns = 2 * people })
	for i := range people {
		all.Go(func() {
			<-start
			add := b.Steer
			if i%2 == 0 {
				add = b.FollowUp
			}
			d, err := add(context.Background(), text(fmt.Sprint("m", i)))
			if err == nil && i%5 == 0 {
				err = b.edit(context.Background(), d.ID, fmt.Sprint("e", i))
			}
			if err != nil {
				t.Error(err)
			}
			b.drafts()
		})
	}
	events := b.run("go")
	endsWith(t, events, session.ReasonDone, "")
	checkStream(t, b, events)
	checkJournal(t, b)
	came := make(map[string]int)
	for _, m := range bodies[session.Message](events) {
		if m.Draft != "" {
			came[m.Text()[1:]]++
		}
	}
	for i := range people {
		if came[fmt.Sprint(i)] != 1 {
			t.Errorf("message %d came %d times", i, came[fmt.Sprint(i)])
		}
	}
}

func TestOneRunAtATime(t *testing.T) {
	var b *bench
	b = clientBench(t, llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
		if events, err := drain(b.Run(t.Context(), text("again"))); !errors.Is(err, agent.ErrBusy) || len(events) != 0 {
			t.Errorf("a second run: %d events, %v; want ErrBusy", len(events), err)
		}
		if _, err := drain(b.Continue(t.Context(), agent.Continuation{})); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("a continuation during the run: %v, want ErrBusy", err)
		}
		return echo(ctx, req)
	}), nil)
	b.run("go")
	same(t, b.texts(), "user \"go\"\nassistant \"GO\"")
}

func TestClosed(t *testing.T) {
	ctx := t.Context()
	b := clientBench(t, llmtest.Func(echo), nil)
	queued(t, b, "one", "")
	draft := b.drafts()[0].ID
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, run := drain(b.Run(ctx, text("go")))
	_, goOn := drain(b.Continue(ctx, agent.Continuation{}))
	_, steer := b.Steer(ctx, text("left"))
	_, followUp := b.FollowUp(ctx, text("later"))
	for what, err := range map[string]error{
		"Run": run, "Continue": goOn, "Steer": steer, "FollowUp": followUp,
		"EditDraft": b.edit(ctx, draft, "x"), "RemoveDraft": b.remove(ctx, draft),
		"SetClient": b.SetClient(ctx, b.client),
	} {
		if !errors.Is(err, agent.ErrClosed) || errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", what, err)
		}
	}
	b.Abort()
	if err := b.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// Close stops the run that is on and waits for it.
func TestCloseDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "call nap", nil)
		go func() {
			time.Sleep(time.Second)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}()
		endsWith(t, b.run("go"), session.ReasonCancelled, "aborted")
		synctest.Wait()
		checkJournal(t, b)
	})
}

func late(err error) bool {
	_, ok := errors.AsType[*request.LateError](err)
	return ok
}
