package agent_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

func TestMain(m *testing.M) {
	if os.Getenv(otherRole) != "" {
		os.Exit(otherMain())
	}
	if crashing() {
		os.Exit(crashMain())
	}
	goleak.VerifyTestMain(m)
}

// bench is an agent on a workbench: a scripted model, a store in memory, tools that log their calls.
type bench struct {
	*agent.Agent
	t      testing.TB
	store  index.Store
	client *llmtest.Client
	log    *callLog
	at     atomic.Pointer[mark]
}

// mark is an entry at which something is to be done.
type mark struct {
	seq int64
	do  func()
}

// newBench makes an agent from a script. change may be nil.
func newBench(t testing.TB, script string, change func(*agent.Options)) *bench {
	t.Helper()
	return clientBench(t, llmtest.New(t, script), change)
}

func clientBench(t testing.TB, client *llmtest.Client, change func(*agent.Options)) *bench {
	t.Helper()
	b := &bench{t: t, client: client, log: &callLog{}}
	b.store = at{memory.New(), func(n int64) {
		if m := b.at.Load(); m != nil && m.seq == n {
			m.do()
		}
	}}
	o := agent.Options{Client: client, Tools: b.log.tools(), Gate: agent.AllowAll(), Dir: "/project"}
	if change != nil {
		change(&o)
	}
	a, err := agent.New(t.Context(), b.store, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		unbroken(t, b.journal())
	})
	b.Agent = a
	return b
}

// unbroken checks that within an epoch each request went on from the one before.
func unbroken(t testing.TB, journal []session.Event) {
	t.Helper()
	for _, e := range journal {
		if r, ok := e.Body.(session.Requested); ok && r.Broken != "" {
			t.Errorf("entry %d: within an epoch %s has changed", e.Seq, r.Broken)
		}
	}
}

// drafts are the messages that wait.
func (b *bench) drafts() []request.Draft { return b.Requests().Drafts }

// edit changes the message of a draft.
func (b *bench) edit(ctx context.Context, id session.ID, text string) error {
	_, err := b.Request(ctx, session.Queued{Draft: id, Change: "edited", Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	return err
}

// remove removes a draft.
func (b *bench) remove(ctx context.Context, id session.ID) error {
	_, err := b.Request(ctx, session.Queued{Draft: id, Change: "removed"})
	return err
}

// at is a store that calls f when the journal of a session gets its n-th entry, on the goroutine that appends, once it is durable.
type at struct {
	index.Store
	f func(n int64)
}

func (s at) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	w, err := s.Store.Open(ctx, id, l)
	return atWriter{w, s.f}, err
}

type atWriter struct {
	session.Writer
	f func(n int64)
}

func (w atWriter) Append(ctx context.Context, at session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	events, err := w.Writer.Append(ctx, at, bodies...)
	for _, e := range events {
		w.f(e.Seq)
	}
	return events, err
}

// run gives the agent a text and returns the events.
func (b *bench) run(text string) []session.Event {
	b.t.Helper()
	return collect(b.t, b.Run(b.t.Context(), llm.UserText(text)))
}

// journal is all that the store has of the session.
func (b *bench) journal() []session.Event {
	b.t.Helper()
	return collect(b.t, b.store.Read(context.WithoutCancel(b.t.Context()), b.Session(), 0))
}

// texts is the conversation as the model would be sent it, one line a message.
func (b *bench) texts() string {
	b.t.Helper()
	messages, err := view.Messages(context.WithoutCancel(b.t.Context()), b.Path())
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, e := range messages {
		lines = append(lines, message(e.Body.(session.Message)))
	}
	return strings.Join(lines, "\n")
}

// callLog records what tools did.
type callLog struct {
	mu      sync.Mutex
	done    []string
	working func() // called by the tool command before it reports; nil: nothing
}

func (l *callLog) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, fmt.Sprintf(format, args...))
}

func (l *callLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.done, " ")
}

type look struct {
	Path string `json:"path"`
}

type change struct {
	Path    string `json:"path"`
	Content string `json:"content,omitzero"`
}

type wait struct {
	For string `json:"for,omitzero"` // duration; empty: until the context ends
}

// tools are a few tools with all kinds of effects: look and change touch a path, command is unknown, nap waits, stubborn
// ignores cancellation, broken fails, crash panics.
func (l *callLog) tools() []tool.Tool {
	return []tool.Tool{
		tool.New("look", "Look at a path.",
			func(_ context.Context, a look) (tool.Effects, error) {
				return tool.Effects{Reads: []tool.Path{tool.File(a.Path)}, Idempotent: true}, nil
			},
			func(_ context.Context, a look, _ tool.Report) (tool.Result, error) {
				l.add("look(%s)", a.Path)
				return tool.TextResult("seen " + a.Path), nil
			}),
		tool.New("change", "Change a path.",
			func(_ context.Context, a change) (tool.Effects, error) {
				return tool.Effects{Writes: []tool.Path{tool.File(a.Path)}}, nil
			},
			func(_ context.Context, a change, _ tool.Report) (tool.Result, error) {
				l.add("change(%s)", a.Path)
				return tool.Result{
					Content: llm.Content{llm.Text{Text: "changed " + a.Path}}, Details: map[string]int{"added": 1},
				}, nil
			}),
		tool.New("command", "Do something.",
			func(context.Context, look) (tool.Effects, error) {
				return tool.Effects{Unknown: true, Exclusive: true}, nil
			},
			func(_ context.Context, a look, report tool.Report) (tool.Result, error) {
				l.add("command(%s)", a.Path)
				if l.working != nil {
					l.working()
				}
				report("working\n")
				return tool.TextResult("did " + a.Path), nil
			}),
		tool.New("nap", "Wait.",
			tool.Nothing,
			func(ctx context.Context, a wait, _ tool.Report) (tool.Result, error) {
				d, err := time.ParseDuration(a.For)
				if err != nil {
					d = 365 * 24 * time.Hour
				}
				select {
				case <-time.After(d):
					l.add("nap(%s)", a.For)
					return tool.TextResult("slept " + a.For), nil
				case <-ctx.Done():
					return tool.Result{}, context.Cause(ctx)
				}
			}),
		tool.New("broken", "Fail.", tool.Nothing,
			func(context.Context, struct{}, tool.Report) (tool.Result, error) {
				return tool.Result{}, fmt.Errorf("it is broken")
			}),
		tool.New("crash", "Panic.", tool.Nothing,
			func(context.Context, struct{}, tool.Report) (tool.Result, error) { panic("on purpose") }),
	}
}
