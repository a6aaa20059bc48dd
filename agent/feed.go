package agent

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// feed is where everything that happens in a run goes: entries to the journal first, and then, in the same order, to the
// consumer. Tools append their results from their own goroutines, so that these are durable at once however slow the
// consumer is; the run's goroutine hands out what has come in.
type feed struct {
	writer session.Writer
	branch *session.Branch

	mu      sync.Mutex
	stamp   session.Stamp
	on      bool // a run is on: somebody takes the events, up to its end
	run     session.RunID
	waiting []session.Event
	told    []progress // what running tools told since it was last handed out
	failed  error      // why nothing can be appended now
	arrived chan struct{}
}

// progress is what one running call told people.
type progress struct {
	call, tool string
	text       []byte
}

// maxProgress bounds what a tool's progress may hold while the consumer is away, in bytes: the newest is kept.
const maxProgress = 16 << 10

func newFeed(w session.Writer) *feed {
	return &feed{writer: w, arrived: make(chan struct{}, 1)}
}

// open takes up the journal as it stands in the store, at first and after a failure.
func (f *feed) open(ctx context.Context, store session.Store) error {
	branch, err := session.NewBranch(ctx, store, f.writer.Session())
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.branch, f.failed = branch, nil
	return nil
}

// broken reports whether the journal failed in a way that may have passed, such as a full disk.
func (f *feed) broken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, fenced := errors.AsType[*session.FencedError](f.failed)
	return f.failed != nil && f.failed != ErrClosed && !fenced
}

// stampAs gives entries another stamp and returns the one before.
func (f *feed) stampAs(s session.Stamp) session.Stamp {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, f.stamp = f.stamp, s
	return s
}

// begin and end mark the time in which a consumer takes events.
func (f *feed) begin(run session.RunID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.waiting, f.told = true, nil, nil
	f.run, f.stamp = run, session.Stamp{Run: run}
}

func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.waiting, f.told = false, nil, nil
	f.stamp = session.Stamp{}
}

// close gives the lease back. Nothing can be appended then.
func (f *feed) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = ErrClosed
	}
	return f.writer.Close()
}

func (f *feed) turn(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamp.Turn = n
}

// append makes entries durable and queues them for the consumer. It works on when ctx has ended: what happened must be
// recorded also after a cancel.
func (f *feed) append(ctx context.Context, bodies ...session.Body) ([]session.Event, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return nil, f.failed
	}
	events, err := f.writer.Append(context.WithoutCancel(ctx), f.stamp, bodies...)
	if err != nil {
		f.failed = &JournalError{Session: f.writer.Session(), Err: err}
		f.ring()
		return nil, f.failed
	}
	for _, e := range events {
		f.branch.Append(e)
		if d, ok := e.Body.(session.Digest); ok { // no request goes further back from now on
			f.branch.Forget(d.Through)
		}
	}
	f.queue(events...)
	return events, nil
}

// moment queues a passing moment for the consumer.
func (f *feed) moment(b session.Body) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue(session.Event{Run: f.stamp.Run, Turn: f.stamp.Turn, Time: session.Now(), Body: b})
}

// tell takes progress of a running call. It stands before everything that is queued later.
func (f *feed) tell(call, tool, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on || text == "" {
		return
	}
	text = text[max(0, len(text)-maxProgress):]
	for i := range f.told {
		if p := &f.told[i]; p.call == call {
			p.text = append(p.text, text...)
			if over := len(p.text) - maxProgress; over > 0 {
				p.text = append(p.text[:0], p.text[over:]...)
			}
			f.ring()
			return
		}
	}
	f.told = append(f.told, progress{call, tool, []byte(text)})
	f.ring()
}

// queue must be called with mu held.
func (f *feed) queue(events ...session.Event) {
	if !f.on {
		return
	}
	f.flushProgress()
	for _, e := range events {
		f.waiting = append(f.waiting, e)
		if _, end := e.Body.(session.RunEnded); end && e.Run == f.run {
			f.on = false // what others record now is in the journal, but not of the run
			break
		}
	}
	f.ring()
}

func (f *feed) flushProgress() {
	for _, p := range f.told {
		f.waiting = append(f.waiting, session.Event{
			Run: f.stamp.Run, Turn: f.stamp.Turn, Time: session.Now(),
			Body: session.Progress{Call: p.call, Tool: p.tool, Text: strings.ToValidUTF8(string(p.text), "\uFFFD")},
		})
	}
	f.told = f.told[:0]
}

func (f *feed) ring() {
	select {
	case f.arrived <- struct{}{}:
	default:
	}
}

// take hands out what has come in, reusing the given slice for what comes next.
func (f *feed) take(reuse []session.Event) []session.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushProgress()
	events := f.waiting
	f.waiting = reuse[:0]
	return events
}

// err is the failure of the journal, if it failed.
func (f *feed) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}
