package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
)

// feed writes entries to the journal, folds the requests among them, and then publishes them in the order of their numbers. Entries of other
// processes take their place in the same order.
type feed struct {
	store  index.Store
	writer session.Writer
	branch *view.Branch
	hub    *hub

	mu       sync.Mutex
	stamp    session.Stamp
	last     int64               // the newest entry that was published
	requests request.State       // folded up to it
	asking   map[string]int      // the questions for whose answers callers of Ask wait, with the number of callers
	abort    func(session.Abort) // it is called with mu held and must not wait
	changed  chan struct{}       // closed and renewed with every entry that requests folded
	verdict  error               // the error of folding the newest entry
	failed   error               // why nothing can be appended now
	closed   bool
}

func newFeed(s index.Store, w session.Writer, abort func(session.Abort)) *feed {
	return &feed{store: s, writer: w, hub: &hub{log: s, id: w.Session()}, abort: abort, asking: make(map[string]int), changed: make(chan struct{})}
}

// open reads the journal as it is in the store, at first and after a failure.
func (f *feed) open(ctx context.Context) error {
	branch, err := view.NewBranch(ctx, f.store, f.writer.Session())
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.branch, f.failed = branch, nil
	if f.last == 0 {
		if err := f.fold(ctx); err != nil {
			return err
		}
	}
	return f.catchUp(ctx, 0)
}

// fold folds the requests that a journal has at first. The runs of former agents are over.
func (f *feed) fold(ctx context.Context) error {
	tip, err := view.Tip(ctx, f.branch)
	if err != nil {
		return err
	}
	for e, err := range f.store.Read(ctx, f.writer.Session(), 0, request.Aside()...) {
		if err != nil {
			return err
		}
		if e.Seq > tip.Seq {
			break // catchUp publishes it
		}
		_ = f.requests.Add(e) // its sender knows
	}
	f.last, f.requests.Seq = tip.Seq, tip.Seq
	f.hub.entry(tip)
	return nil
}

// catchUp publishes the entries that other processes have appended, up to a number; 0: all of them. It must be called with mu held.
func (f *feed) catchUp(ctx context.Context, until int64) error {
	for e, err := range f.store.Read(ctx, f.writer.Session(), f.last) {
		if err != nil || until > 0 && e.Seq >= until {
			return err
		}
		f.publish(e)
	}
	return nil
}

// watch publishes the entries of other processes as they come, until ctx ends.
func (f *feed) watch(ctx context.Context) {
	for delay := watchEvery; ; {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		delay = watchEvery
		for e, err := range f.store.Watch(ctx, f.writer.Session(), f.seen()) {
			if err != nil {
				delay = watchAgain
				break
			}
			if !f.foreign(e) {
				break // the agent's own: it need not be read
			}
		}
	}
}

// The pauses of watch: at first and after entries of the agent itself, which come in groups, and after a failure of the store.
const (
	watchEvery = 50 * time.Millisecond
	watchAgain = time.Second
)

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
	f.hub.stampAs(f.stamp)
	return s
}

func (f *feed) turn(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamp.Turn = n
	f.hub.stampAs(f.stamp)
}

// close gives the lease back. Nothing can be appended then, and listeners end once they have seen everything.
func (f *feed) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = ErrClosed
	}
	f.closed = true
	f.hub.close()
	return f.writer.Close()
}

// append makes entries durable and publishes them. It works on when ctx has ended: what happened must be recorded also after a cancel.
func (f *feed) append(ctx context.Context, bodies ...session.Body) ([]session.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write(ctx, f.stamp, bodies)
}

// annotate is append for what belongs to no run.
func (f *feed) annotate(ctx context.Context, bodies ...session.Body) ([]session.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write(ctx, session.Stamp{}, bodies)
}

// write must be called with mu held.
func (f *feed) write(ctx context.Context, at session.Stamp, bodies []session.Body) ([]session.Event, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	if f.failed != nil {
		return nil, f.failed
	}
	ctx = context.WithoutCancel(ctx)
	events, err := f.writer.Append(ctx, at, bodies...)
	if _, stale := errors.AsType[*session.StaleError](err); stale {
		if err = f.catchUp(ctx, 0); err == nil {
			return nil, errMoved
		}
	}
	if err == nil && events[0].Seq > f.last+1 {
		err = f.catchUp(ctx, events[0].Seq)
	}
	if err != nil {
		f.failed = &JournalError{Session: f.writer.Session(), Err: err}
		return nil, f.failed
	}
	for _, e := range events {
		f.branch.Append(e)
		if d, ok := e.Body.(session.Summarized); ok { // no request goes further back from now on
			f.branch.Forget(d.Through)
		}
		f.publish(e)
	}
	return events, nil
}

// publish folds an entry and hands it to all listeners. It must be called with mu held.
func (f *feed) publish(e session.Event) {
	f.last = e.Seq
	f.verdict = f.requests.Add(e)
	switch b := e.Body.(type) {
	case session.Queued, session.Asking, session.Answered, session.Asked, session.Change, session.Changed:
		close(f.changed)
		f.changed = make(chan struct{})
	case session.Abort:
		if f.verdict == nil {
			f.abort(b)
		}
	}
	f.hub.entry(e)
}

// seen is the newest entry that was published.
func (f *feed) seen() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// foreign publishes an entry that another process may have appended, and reports whether it did.
func (f *feed) foreign(e session.Event) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Seq != f.last+1 || f.closed {
		return false
	}
	f.publish(e)
	return true
}

// now returns the requests as they are, and a channel that is closed when they change.
func (f *feed) now() (request.State, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests, f.changed
}

// waiting reports whether a draft waits in a lane.
func (f *feed) waiting(lane session.Source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests.Waiting(lane)
}

// err is the failure of the journal, if it failed.
func (f *feed) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}
