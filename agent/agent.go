package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Agent is a session that goes on: the journal, the queues of drafts, and one run at a time. Make one with [New] or
// [Open], and close it. All methods are safe for concurrent use.
type Agent struct {
	store session.Store
	feed  *feed
	queue queue

	changing sync.Mutex // one change of the model at a time: the last in the journal is the one that holds

	mu      sync.Mutex
	options Options
	tools   toolset
	cancel  context.CancelCauseFunc // of the run that is on; nil when none is
	idle    chan struct{}           // closed when no run is on
	lastRun session.RunID
	closed  bool
}

// New makes an agent with a new session in a store. The session exists from then on.
func New(ctx context.Context, store session.Store, o Options) (*Agent, error) {
	if _, err := o.withDefaults(); err != nil {
		return nil, err
	}
	if _, err := newToolset(o.Tools); err != nil {
		return nil, err
	}
	id, err := store.Create(ctx, session.Created{Dir: o.Dir, Version: o.Version})
	if err != nil {
		return nil, fmt.Errorf("agent: create a session: %w", err)
	}
	return Open(ctx, store, id, o)
}

// Open makes an agent that goes on with a session. It takes the session's lease: the error is a *session.LockedError while
// another process writes it. When the process that wrote it died, what was under way is given its end: see
// session.Recover.
func Open(ctx context.Context, store session.Store, id session.SessionID, o Options) (_ *Agent, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	tools, err := newToolset(o.Tools)
	if err != nil {
		return nil, err
	}
	w, err := store.Open(ctx, id, session.Lease{Owner: o.Owner, TakeOver: o.TakeOver})
	if err != nil {
		return nil, fmt.Errorf("agent: open session: %w", err)
	}
	defer func() {
		if err != nil {
			_ = w.Close() // the first error is the one to tell
		}
	}()
	a := &Agent{store: store, options: o, tools: tools, feed: newFeed(w), idle: make(chan struct{})}
	a.queue.feed = a.feed
	close(a.idle)
	if err := a.restore(ctx); err != nil {
		return nil, fmt.Errorf("agent: go on with session %s: %w", id, err)
	}
	return a, nil
}

// restore takes up what the journal has: the branch, the queue, and the run that was on when its process died or its
// journal failed, which gets its end.
func (a *Agent) restore(ctx context.Context) (err error) {
	if err := a.feed.open(ctx, a.store); err != nil {
		return err
	}
	if err := a.queue.restore(ctx, a.store, a.Session()); err != nil {
		return err
	}
	if a.lastRun, err = newestRun(ctx, a.feed.branch); err != nil {
		return err
	}
	lost, err := session.Recover(ctx, a.feed.branch)
	if err == nil {
		err = tellFound(ctx, a.store, a.Session(), lost)
	}
	if err != nil {
		return err
	}
	defer a.feed.stampAs(a.feed.stampAs(session.Stamp{Run: a.lastRun}))
	_, err = a.feed.append(ctx, lost...)
	return err
}

// newestRun is the run that wrote last on a branch.
func newestRun(ctx context.Context, p session.Path) (session.RunID, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil || e.Run != "" {
			return e.Run, err
		}
	}
	return "", nil
}

// Session is the session that the agent writes.
func (a *Agent) Session() session.SessionID { return a.feed.writer.Session() }

// Run starts from new input and returns the stream of the run's events, in order. The run begins with the iteration and
// lives as long: leaving it early cancels the run, waits for its tools, and ends the journal properly. The sequence is for
// one iteration.
//
// The last event is a session.RunEnded, however the run ends. Where its reason is an error, a pair with a zero event and
// that error follows: an [*llm.Error], a [*JournalError], or what a gate or a window returned. While another run is on,
// the only pair is a zero event with [ErrBusy].
func (a *Agent) Run(ctx context.Context, in ...llm.Message) iter.Seq2[session.Event, error] {
	return a.sequence(ctx, func(r *run) { r.input = in })
}

// Continuation says from where a run without new input goes on. The zero value goes on where the branch stands.
type Continuation struct {
	Kind session.Continues // default ContinuesDefault
	From session.ID        // of a rerun or a branch: the entry to go on from; of a rerun, default the last user message
	Tag  string            // label of a rerun or a branch
}

// Continue goes on without new input, and returns the stream as [Agent.Run] does. It is how a run that was killed, failed
// or stopped at a limit is taken up again. A conversation that ends with an answer cannot go on; name an earlier entry to
// answer again (ContinuesRerun) or to go another way (ContinuesBranch).
func (a *Agent) Continue(ctx context.Context, how Continuation) iter.Seq2[session.Event, error] {
	if how.Kind == session.ContinuesNothing {
		how.Kind = session.ContinuesDefault
	}
	return a.sequence(ctx, func(r *run) { r.how = how })
}

// Prepare lets the window do now what it would do before the next request, such as a digest that somebody has asked it for, and returns
// the entries of that. While a run is on it is an [ErrBusy].
func (a *Agent) Prepare(ctx context.Context) ([]session.Event, error) {
	r, err := a.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer a.end(r)
	a.feed.stampAs(session.Stamp{}) // it is no run
	_, entries, err := a.options.Window.Request(r.ctx, a.feed.branch, r.header(a.client()))
	if err != nil {
		return nil, fmt.Errorf("agent: make the request: %w", err)
	}
	return a.feed.append(ctx, slices.DeleteFunc(entries, func(b session.Body) bool {
		_, requested := b.(session.Requested)
		return requested
	})...)
}

func (a *Agent) sequence(ctx context.Context, prepare func(*run)) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r, err := a.begin(ctx)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		prepare(r)
		r.yield = yield
		defer a.end(r)
		r.run()
	}
}

// begin takes the agent for a run.
func (a *Agent) begin(ctx context.Context) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, ErrClosed
	case a.cancel != nil:
		return nil, ErrBusy
	}
	r := &run{a: a, id: session.NewID(), started: time.Now()}
	a.feed.begin(r.id)
	if a.feed.broken() {
		if err := a.restore(ctx); err != nil {
			a.feed.end()
			return nil, err
		}
	}
	r.previous = a.lastRun
	ctx, a.cancel = context.WithCancelCause(ctx)
	r.ctx, r.cancel = ctx, a.cancel
	a.idle = make(chan struct{})
	return r, nil
}

func (a *Agent) end(r *run) {
	r.cancel(nil)
	a.feed.end()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel = nil
	if r.begun {
		a.lastRun = r.id
	}
	close(a.idle)
}

// Abort cancels the run that is on, if one is: the request, the calls and their processes. It does not wait; the run's
// stream ends soon after.
func (a *Agent) Abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		a.cancel(errAborted)
	}
}

// SetClient lets another model answer from the next turn on. It may be called while a run is on.
func (a *Agent) SetClient(ctx context.Context, c llm.Client) error {
	if c == nil {
		return errNoClient
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	if _, err := a.feed.append(ctx, session.ModelChanged{Model: c.Model()}); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.options.Client = c
	return nil
}

// client is the model that answers now.
func (a *Agent) client() llm.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.options.Client
}

// Path is the current branch of the session, for views. It sees what is in the store when it is read.
func (a *Agent) Path() session.Path { return session.Stored(a.store, a.Session(), "") }

// Close aborts the run that is on, waits for its end and gives the lease back. An iteration of the run's stream must be
// going on in another goroutine, or Close waits for ever.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	if a.cancel != nil {
		a.cancel(errAborted)
	}
	idle := a.idle
	a.mu.Unlock()
	<-idle
	return a.feed.close()
}

// callKey is the key of a call's ID in the context of its tool.
type callKey struct{}

// CallID is the ID of the call that a tool runs for, by the context of its Run. It is empty elsewhere.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

// Record appends entries that are not the loop's own, from wherever something happens that must be known, also from a running tool: a
// [session.Todo], a [session.Cleanup] or a [session.Revert], and those that hang on no branch, such as a [session.FilesChanged]. They are
// durable when it returns.
func (a *Agent) Record(ctx context.Context, bodies ...session.Body) error {
	for _, b := range bodies {
		switch b.(type) {
		case session.Todo, session.Cleanup, session.Revert:
		default:
			if err := session.Check(true, b); err != nil {
				return err
			}
		}
	}
	_, err := a.feed.append(ctx, bodies...)
	return err
}

// Announce tells the consumer of the run that is on a passing moment, such as a [session.Asking]. Without a run nobody hears it.
func (a *Agent) Announce(b session.Body) {
	if session.Passing(b) {
		a.feed.moment(b)
	}
}
