package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// A model's failure ends the run with the matching reason.
func TestErrorsOfTheModel(t *testing.T) {
	tests := []struct {
		script string
		reason session.Reason
		kind   llm.Kind // of the error that follows the stream; empty: none
	}{
		{"error rate_limited \"x\"", session.ReasonError, llm.KindRateLimited},
		{"error quota \"x\"", session.ReasonError, llm.KindQuota},
		{"error overloaded \"x\"", session.ReasonError, llm.KindOverloaded},
		{"error network \"x\"", session.ReasonError, llm.KindNetwork},
		{"error stalled \"x\"", session.ReasonError, llm.KindStalled},
		{"error auth \"x\"", session.ReasonError, llm.KindAuth},
		{"error context_overflow \"x\"", session.ReasonError, llm.KindContextOverflow},
		{"error invalid_request \"x\"", session.ReasonError, llm.KindInvalidRequest},
		{"error cancelled \"x\"", session.ReasonError, llm.KindCancelled}, // but no caller has cancelled
		{"error other \"x\"", session.ReasonError, llm.KindOther},
		{"text Hel\ncut", session.ReasonError, llm.KindProtocol},
		{"text Hel\nend", session.ReasonError, llm.KindProtocol},
		{"text Hel\npanic on purpose", session.ReasonError, llm.KindOther},
		{"error refused \"not that\"", session.ReasonRefused, ""},
		{"text I will not.\nstop refused", session.ReasonRefused, ""},
		{"text Hello.", session.ReasonDone, ""},
	}
	for _, test := range tests {
		t.Run(test.script, func(t *testing.T) {
			b := newBench(t, test.script+"\n---\ntext Now I can.", nil)
			events, err := drain(b.Run(t.Context(), text("go")))
			end := ending(t, events)
			if end.Reason != test.reason {
				t.Errorf("the run ended as %s", end.Reason)
			}
			if end.Reason != session.ReasonDone && end.Message == "" {
				t.Error("the end of the run has no message")
			}
			e, ok := errors.AsType[*llm.Error](err)
			if ok != (test.kind != "") || ok && (e.Kind != test.kind || end.Error == nil || end.Error.Kind != test.kind) {
				t.Errorf("error = %v, in the journal %v; want %q", err, end.Error, test.kind)
			}
			checkJournal(t, b)
			endsWith(t, b.run("and now?"), session.ReasonDone, "")
		})
	}
}

// An answer that the output limit cuts again and again is given up.
func TestLengthAgainAndAgain(t *testing.T) {
	b := newBench(t, strings.Repeat("text bla \nstop length\n---\n", 4)+"text never asked", nil)
	out, err := agent.Wait(b.Run(t.Context(), text("a story")))
	if err != nil || out.Ended.Reason != session.ReasonLength || out.Ended.Turns != 4 || out.Text != "bla bla bla bla" {
		t.Errorf("%+v, %v", out, err)
	}
	checkJournal(t, b)
}

// An answer that comes through gives the model its patience back.
func TestLengthNowAndThen(t *testing.T) {
	cut := strings.Repeat("text bla \nstop length\n---\n", 3)
	b := newBench(t, cut+"call look {\"path\":\"/a\"}\n---\n"+cut+"text The end.", nil)
	endsWith(t, b.run("a story"), session.ReasonDone, "")
}

// An answer that restarts voids its saved part, once.
func TestDiscardedPartials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, `
			text Hel
			delay 1s
			text lo
			reset network "x"
			text Good
			reset network "x"
			text Wel
			delay 1s
			text come
			cut`, nil)
		_, _ = drain(b.Run(t.Context(), text("hi")))
		if got := bodies[session.Discarded](b.journal()); len(got) != 1 || got[0].Cause.Kind != llm.KindNetwork {
			t.Errorf("discarded: %+v", got)
		}
		same(t, b.texts(), "user \"hi\"\nassistant \"Welcome\" aborted")
	})
}

// Wait has the text of the last answer, whole also when it came in pieces, and the error of the stream.
func TestWait(t *testing.T) {
	tests := []struct{ script, want string }{
		{"text Hello.", "Hello."},
		{"text I look.\ncall look {\"path\":\"/a\"}\n---\ntext Done.\n", "Done."},
		{"text It was a dark and\nstop length\n---\ntext \" stormy night.\"", "It was a dark and stormy night."},
	}
	for _, test := range tests {
		b := newBench(t, test.script, nil)
		if out, err := agent.Wait(b.Run(t.Context(), text("go"))); err != nil || out.Text != test.want {
			t.Errorf("%q, %v; want %q", out.Text, err, test.want)
		}
	}
	b := newBench(t, "text Hel\nerror auth \"wrong key\"", nil)
	if out, err := agent.Wait(b.Run(t.Context(), text("go"))); err == nil || out.Ended.Reason != session.ReasonError {
		t.Errorf("%+v, %v", out, err)
	}
}

// failingWindow is a window that cannot make a request.
type failingWindow struct {
	window.Full
	err error
}

func (w failingWindow) Request(context.Context, view.Path, window.Header) (*llm.Request, []session.Body, error) {
	return nil, nil, w.err
}

func TestWindowThatFails(t *testing.T) {
	full := errors.New("even the newest message is too long")
	b := newBench(t, "text never asked", func(o *agent.Options) {
		o.Window = failingWindow{err: full}
	})
	events, err := drain(b.Run(t.Context(), text("go")))
	if !errors.Is(err, full) {
		t.Errorf("error = %v", err)
	}
	endsWith(t, events, session.ReasonError, full.Error())
	checkJournal(t, b)
}

// failingStore hands out writers that fail from an append on.
type failingStore struct {
	*memory.Store
	good   int // appends that go well
	failed int
	done   []session.Body // the appended entries
	client *llmtest.Client
	asked  int // requests to the client before the first append that failed
}

var errDisk = fmt.Errorf("disk: %w", session.ErrFull)

func (s *failingStore) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	w, err := s.Store.Open(ctx, id, l)
	return &failingWriter{w, s}, err
}

type failingWriter struct {
	session.Writer
	store *failingStore
}

func (w *failingWriter) Append(ctx context.Context, at session.Stamp, all ...session.Body) ([]session.Event, error) {
	if w.store.good == 0 {
		if w.store.failed++; w.store.failed == 1 {
			w.store.asked = len(w.store.client.Requests())
		}
		return nil, errDisk
	}
	w.store.good--
	w.store.done = append(w.store.done, all...)
	return w.Writer.Append(ctx, at, all...)
}

// Whichever append fails, the run stops before the next effect, says so, and what was appended before is kept. When the
// failure has passed, the agent goes on, and so does one that opens the session again.
func TestJournalThatFails(t *testing.T) {
	const script = `
		text I look.
		delay 300ms
		text Slowly.
		reset network "x"
		text I look.
		call look {"path":"/a"}
		call change {"path":"/a"}
		call command {"path":"x"}
		raw look {
		---
		call change {"path":"/b"}
		---
		text I
		stop length
		---
		text  am done.
		---
		text And more.
		---
		text And still more.`
	appends := 1
	for k := 0; k < appends; k++ {
		t.Run(fmt.Sprint("append ", k+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &failingStore{Store: memory.New(), good: 1000}
				log := &callLog{}
				o := agent.Options{
					Client: llmtest.New(t, script, llmtest.ByHistory()), Tools: log.tools(),
					Gate: agent.GateFunc(func(context.Context, agent.Proposed) agent.Verdict {
						return agent.Verdict{Allow: true, By: "rule"}
					}),
				}
				a, err := agent.New(t.Context(), store, o)
				if err != nil {
					t.Fatal(err)
				}
				for word, add := range map[string]func(context.Context, llm.Message) (request.Draft, error){
					"steering": a.Steer, "later": a.FollowUp,
				} {
					if _, err := add(t.Context(), text(word)); err != nil {
						t.Fatal(err)
					}
				}
				store.good = 1000
				if k == 0 { // the first time nothing fails: see how many there are
					endsWith(t, collect(t, a.Run(t.Context(), text("go"))), session.ReasonDone, "")
					appends = 1000 - store.good
					if err := a.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				store.good, store.done, store.client = k, nil, o.Client.(*llmtest.Client)
				events, err := drain(a.Run(t.Context(), text("go")))
				j, ok := errors.AsType[*agent.JournalError](err)
				if !ok || !errors.Is(err, session.ErrFull) || j.Session != a.Session() {
					t.Fatalf("error = %v, want a JournalError", err)
				}
				endsWith(t, events, session.ReasonError, "cannot write the journal")
				if last := events[len(events)-1]; last.Durable() {
					t.Error("the end of the run is said to be in the journal")
				}
				if asked := len(store.client.Requests()); asked != store.asked {
					t.Errorf("the model was asked %d times after the append that failed", asked-store.asked)
				}
				if store.failed != 1 {
					t.Errorf("%d appends after the first that failed", store.failed-1)
				}
				var started []string
				for _, b := range store.done {
					if s, ok := b.(session.CallStarted); ok {
						started = append(started, s.Tool)
					}
				}
				if did := strings.Fields(log.String()); len(did) > len(started) {
					t.Errorf("tools did %v, the journal has the start of %v", did, started)
				}
				if _, err := a.Steer(t.Context(), text("x")); !errors.Is(err, session.ErrFull) {
					t.Errorf("Steer: %v", err)
				}
				if _, err := drain(a.Run(t.Context(), text("again"))); !errors.Is(err, session.ErrFull) {
					t.Errorf("another run: %v", err)
				}
				if k%2 == 0 { // the same agent goes on, too
					store.good = 1000
					if _, err := drain(a.Run(t.Context(), text("there is room again"))); errors.Is(err, session.ErrFull) {
						t.Errorf("a run after the failure has passed: %v", err)
					}
					journal := collect(t, store.Read(t.Context(), a.Session(), 0))
					checkEntries(t, journal)
					if len(bodies[session.RunEnded](journal)) == 0 {
						t.Error("no run has an end")
					}
				}
				if err := a.Close(); err != nil {
					t.Error(err)
				}
				goesOn(t, store, a.Session(), o)
			})
		})
	}
}

// goesOn opens a session again after the disk has been cleaned up.
func goesOn(t *testing.T, store *failingStore, id session.SessionID, o agent.Options) {
	t.Helper()
	store.good = 1000
	a, err := agent.Open(t.Context(), store, id, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	checkEntries(t, collect(t, store.Read(t.Context(), id, 0)))
	if err := a.SetClient(t.Context(), llmtest.Func(echo)); err != nil {
		t.Fatal(err)
	}
	endsWith(t, collect(t, a.Run(t.Context(), text("once more"))), session.ReasonDone, "")
	checkEntries(t, collect(t, store.Read(t.Context(), id, 0)))
}

// A writer whose lease was taken ends its run before the next effect.
func TestLeaseThatIsTaken(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ncall change {\"path\":\"/a\"}", nil)
	b.at.Store(&mark{7, func() { // the call begins
		w, err := b.store.Open(t.Context(), b.Session(), session.Lease{Owner: "another process", TakeOver: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
	}})
	events, failed := drain(b.Run(t.Context(), text("go")))
	if fenced, ok := errors.AsType[*session.FencedError](failed); !ok || fenced.Owner != "another process" {
		t.Errorf("error = %v, want a FencedError", failed)
	}
	endsWith(t, events, session.ReasonError, "another process")
	same(t, b.log.String(), "look(/a)")
	if _, err := agent.Open(t.Context(), b.store, b.Session(), agent.Options{Client: b.client}); err == nil {
		t.Error("the session was opened though a living writer has it")
	} else if _, ok := errors.AsType[*session.LockedError](err); !ok {
		t.Errorf("error = %v, want a LockedError", err)
	}
}

func TestOpenWhatIsNotThere(t *testing.T) {
	_, err := agent.Open(t.Context(), memory.New(), "nowhere", agent.Options{Client: llmtest.Must("")})
	if !errors.Is(err, session.ErrNotFound) {
		t.Errorf("error = %v", err)
	}
}

// While a request waits for its retry, a transient event says so. The journal keeps nothing of it.
func TestWaiting(t *testing.T) {
	b := newBench(t, "text x", func(o *agent.Options) { o.Client = waits{o.Client} })
	events := b.run("go")
	got := bodies[live.Waiting](events)
	if len(got) != 1 || got[0].Attempt != 2 || got[0].Of != 3 || time.Duration(got[0].Delay) != time.Second || got[0].Cause.Kind != llm.KindOverloaded {
		t.Errorf("waiting = %+v", got)
	}
	checkStream(t, b, events)
}

// waits is a client that had to wait.
type waits struct{ llm.Client }

func (c waits) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		cause := &llm.Error{Kind: llm.KindOverloaded}
		if yield(llm.Waiting{Attempt: 2, Of: 3, Delay: time.Second, Cause: cause}, nil) {
			c.Client.Stream(ctx, req)(yield)
		}
	}
}

// unreadable is a store some of whose parts cannot be read.
type unreadable struct {
	index.Store
	create, annotations bool
	backward            int // how often the branch can be read; -1: always
}

func (s *unreadable) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	if s.create {
		return "", errDisk
	}
	return s.Store.Create(ctx, c)
}

func (s *unreadable) Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error] {
	if s.annotations && len(kinds) > 0 {
		return broken
	}
	return s.Store.Read(ctx, id, after, kinds...)
}

func (s *unreadable) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	if s.backward == 0 {
		return broken
	}
	s.backward--
	return s.Store.Backward(ctx, id, leaf)
}

func broken(yield func(session.Event, error) bool) { yield(session.Event{}, errDisk) }

// A session that cannot be read is not opened, and its lease is given back.
func TestStoreThatCannotBeRead(t *testing.T) {
	b := newBench(t, "text Hello.", nil)
	b.run("hi")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	o := agent.Options{Client: b.client}
	if _, err := agent.New(t.Context(), &unreadable{Store: b.store, create: true}, o); !errors.Is(err, errDisk) {
		t.Errorf("New: %v", err)
	}
	for name, store := range map[string]*unreadable{
		"the queue":  {annotations: true, backward: -1},
		"the branch": {backward: 0},
	} {
		store.Store = b.store
		if _, err := agent.Open(t.Context(), store, b.Session(), o); !errors.Is(err, errDisk) {
			t.Errorf("%s cannot be read: %v", name, err)
		}
	}
	store := &unreadable{Store: b.store, backward: 1}
	a, err := agent.Open(t.Context(), store, b.Session(), o)
	if err != nil {
		t.Fatal("the lease was not given back, or Open reads more than it must: ", err)
	}
	defer a.Close()
	for _, how := range []agent.Continuation{{}, {Kind: session.ContinuesRerun}} {
		if events, err := drain(a.Continue(t.Context(), how)); !errors.Is(err, errDisk) || len(events) > 0 {
			t.Errorf("Continue: %d events, %v", len(events), err)
		}
	}
}
