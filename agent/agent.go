package agent

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// Agent is a session that is open for writing: the journal, the requests to it, and one run at a time. Make one with [New] or [Open], and
// close it. All methods are safe for concurrent use.
type Agent struct {
	store    index.Store
	feed     *feed
	spending *spending
	stop     context.CancelFunc // ends the goroutines of the agent
	works    sync.WaitGroup

	slot     *slot
	changes  *changes
	changing sync.Mutex // one change at a time: the last in the journal is the one that holds
	setup    atomic.Pointer[setup]
	options  Options // as they were at first; what changes is in setup
	hooks    hooks
}

// New makes an agent with a new session in a store.
func New(ctx context.Context, store index.Store, o Options) (*Agent, error) {
	if _, err := o.withDefaults(); err != nil {
		return nil, err
	}
	if store == nil {
		return nil, errNoStore
	}
	if _, err := newToolset(o.Tools, o.Offer); err != nil {
		return nil, err
	}
	id, err := store.Create(ctx, session.Created{
		Dir: o.Dir, Version: o.Version, Host: Host(), From: session.Origin{Session: o.Parent}, Parent: session.Origin{Session: o.Parent, Run: o.ParentRun},
	})
	if err != nil {
		return nil, fmt.Errorf("agent: cannot create a session: %w", err)
	}
	return Open(ctx, store, id, o)
}

// Host returns the name of this machine, for [session.Created]; empty if it has none.
func Host() string {
	name, _ := os.Hostname()
	return name
}

// Open makes an agent that continues a session. It takes the write lock of the session: while another process has it, the error is a
// *session.LockedError. If the process that wrote the session died, Open gives its run and its calls their ends; see view.Recover.
func Open(ctx context.Context, store index.Store, id session.SessionID, o Options) (_ *Agent, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	if store == nil {
		return nil, errNoStore
	}
	tools, err := newToolset(o.Tools, o.Offer)
	if err != nil {
		return nil, err
	}
	w, err := store.Open(ctx, id, session.Lease{Owner: o.Owner, TakeOver: o.TakeOver})
	if err != nil {
		return nil, fmt.Errorf("agent: cannot open the session: %w", err)
	}
	defer func() {
		if err != nil {
			_ = w.Close() // the first error counts
		}
	}()
	a := &Agent{store: store, options: o, hooks: o.Hooks, slot: newSlot()}
	first := setup{client: o.Client, tools: tools, system: o.System, settings: o.Settings, limits: o.Limits, gate: o.Gate}
	first.show(o.Dialect)
	a.setup.Store(&first)
	a.feed, a.spending = newFeed(store, w, a.slot.abort), newSpending(o)
	a.changes = &changes{feed: a.feed, apply: o.Change, over: make(chan struct{})}
	a.spending.session.OnSettle(func() { announce(a) })
	a.slot.lastRun, err = restore(ctx, a.feed)
	if err == nil {
		err = reopen(ctx, a)
	}
	if err != nil {
		return nil, fmt.Errorf("agent: cannot continue session %s: %w", id, err)
	}
	ctx, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	a.works.Go(func() { a.feed.watch(ctx) })
	a.works.Go(func() { a.changes.serve(ctx) })
	return a, nil
}

// reopen takes up the limits and the spending of a session that has a past, and withdraws questions of agents that are no more.
func reopen(ctx context.Context, a *Agent) error {
	changed, usage, first := Limits{}, llm.Usage{}, a.setup.Load()
	if a.feed.seen() > 1 {
		var err error
		if changed, err = ChangedLimits(ctx, a.store, a.Session()); err == nil {
			usage, err = a.spending.journal(ctx, a.store, a.Session())
		}
		if err != nil {
			return err
		}
	}
	first.limits = first.limits.With(changed).With(a.options.Override)
	a.spending.limit(a)
	a.spending.session.AtLeast(usage)
	if requests, _ := a.feed.now(); len(requests.Questions) == 0 {
		return nil
	}
	_, open, err := view.OpenCalls(ctx, a.feed.branch)
	if err == nil {
		_, err = a.feed.annotate(ctx, a.feed.unasked(open)...)
	}
	return err
}

// Session returns the ID of the session that the agent writes.
func (a *Agent) Session() session.SessionID { return a.feed.writer.Session() }

// Input is the start of a run.
type Input struct {
	Messages []llm.Message   // new input; empty: the run continues without any, see Continuation
	Speaker  session.Speaker // the author of the messages; zero: a person
	Draft    session.ID      // the draft that the only message is; it leaves the queue. If it has left before: a *request.LateError
	Continuation
}

// Continuation is where a run continues. The zero value continues from the end of the branch.
type Continuation struct {
	Kind session.Continues // of a run without input; default ContinuesDefault
	From session.ID        // the entry to continue from; of a rerun, by default the last message of a person
	Tag  string            // label of a rerun or a branch
}

// Start begins a run and returns once its start and its input are in the journal. The run lives in the agent: it ends when the model has
// nothing more to do, at a limit, by [Agent.Abort] or [Agent.Close], or when ctx ends, but not because a listener leaves.
//
// With Messages and From, the messages come after that entry, on a branch of their own: so an earlier message is edited and sent again.
// While another run is on, the error is [ErrBusy].
func (a *Agent) Start(ctx context.Context, in Input) (session.RunID, error) {
	r, head, err := begin(ctx, a, in)
	if err != nil {
		return "", err
	}
	go r.live(head)
	<-r.started
	return r.id, r.refused
}

// Follow yields the entries of the session after a number, and then entries and transient events as they happen, during runs and between
// them; a negative number is the newest entry. Any number of listeners can follow, and all see one order. A listener that is slow gets
// several deltas as one, and may miss transient events that are past, but no entry. It ends with the cause of ctx, or with [ErrClosed].
//
// A listener that comes in the middle of an answer sees the transient events since the newest entry.
func (a *Agent) Follow(ctx context.Context, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		l := a.feed.hub.attach(after)
		defer a.feed.hub.detach(l)
		if err := a.feed.hub.follow(ctx, l, nil, func(e session.Event) bool { return yield(e, nil) }); err != nil {
			yield(session.Event{}, err)
		}
	}
}

// Run starts a run from new input when the iteration begins, and yields what happens until the run has ended, in the order of
// [Agent.Follow]. To leave the iteration early leaves the run going: to cancel it, cancel ctx or call [Agent.Abort].
//
// The last event is a session.RunEnded, however the run ends. If its reason is an error, a pair with a zero event and that error follows:
// an [*llm.Error], a [*JournalError], a [*PanicError], or an error of a gate or a window. While another run is on, the only pair is a zero
// event with [ErrBusy].
func (a *Agent) Run(ctx context.Context, in ...llm.Message) iter.Seq2[session.Event, error] {
	if len(in) == 0 {
		in = []llm.Message{{}} // which has no text: the run is refused
	}
	return a.Do(ctx, Input{Messages: in})
}

// Continue goes on without new input, and yields what happens as [Agent.Run] does. It is how a run that was killed, failed or stopped at a
// limit goes on. A conversation that ends with an answer cannot go on; name an earlier entry to answer again (ContinuesRerun) or to go
// another way (ContinuesBranch).
func (a *Agent) Continue(ctx context.Context, how Continuation) iter.Seq2[session.Event, error] {
	return a.Do(ctx, Input{Continuation: how})
}

// Prepare lets the window do now what it would do before the next request, such as a summary that a person asked for, and returns
// the entries of that. While a run is on it is an [ErrBusy].
func (a *Agent) Prepare(ctx context.Context) ([]session.Event, error) {
	r, err := enter(ctx, a, Input{})
	if err != nil {
		return nil, err
	}
	defer a.slot.leave(r)
	a.feed.stampAs(session.Stamp{}) // it is no run
	if err := r.account(r.ctx); err != nil {
		return nil, err
	}
	_, entries, err := a.options.Window.Request(r.ctx, a.feed.branch, r.header())
	if err != nil {
		return nil, fmt.Errorf("agent: cannot make the request: %w", err)
	}
	return a.feed.append(ctx, slices.DeleteFunc(entries, func(b session.Body) bool {
		_, requested := b.(session.Requested)
		return requested
	})...)
}

// Do starts a run from in when the iteration begins, as [Agent.Start] does, and yields its events as [Agent.Run] does.
func (a *Agent) Do(ctx context.Context, in Input) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		l := a.feed.hub.attach(-1)
		defer a.feed.hub.detach(l)
		r, head, err := begin(ctx, a, in)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		go r.live(head)
		left := false
		err = a.feed.hub.follow(context.WithoutCancel(ctx), l, r.over, func(e session.Event) bool {
			_, end := e.Body.(session.RunEnded)
			left = !yield(e, nil)
			return !left && (!end || e.Run != r.id)
		})
		if left {
			return
		}
		if <-r.over; err == nil {
			err = r.failed
		}
		if err != nil {
			yield(session.Event{}, err)
		}
	}
}

// begin takes the agent for a run, and returns what must precede it in the journal.
func begin(ctx context.Context, a *Agent, in Input) (*run, []session.Body, error) {
	if err := a.changes.settle(ctx); err != nil {
		return nil, nil, err
	}
	r, err := enter(ctx, a, in)
	if err != nil {
		return nil, nil, err
	}
	head, err := r.head(r.ctx)
	if err != nil {
		a.slot.leave(r)
		return nil, nil, err
	}
	return r, head, nil
}

// enter takes the agent, for a run or a step between runs.
func enter(ctx context.Context, a *Agent, in Input) (*run, error) {
	return a.slot.enter(ctx, func(lastRun session.RunID) (*run, error) {
		if a.feed.broken() {
			var err error
			if lastRun, err = restore(ctx, a.feed); err != nil {
				return nil, err
			}
		}
		r := newRun(ctx, a, in, lastRun)
		a.feed.stampAs(session.Stamp{Run: r.id})
		return r, nil
	})
}

// Abort cancels the run that is on, if one is: the request, the calls and their processes. It does not wait; the run ends soon after.
func (a *Agent) Abort() {
	a.slot.abort(session.Abort{})
}

// Path is the current branch of the session, for views. It sees what is in the store when it is read.
func (a *Agent) Path() view.Path { return view.Stored(a.store, a.Session(), "") }

// Close aborts the run that is on, waits for its end and gives the lease back. Listeners end.
func (a *Agent) Close() error {
	<-a.slot.close()
	a.stop()
	a.works.Wait()
	return a.feed.close()
}

// callKey is the key of a call in the context of its tool.
type callKey struct{}

// calling says for what a tool runs.
type calling struct {
	call    string
	run     session.RunID
	session session.SessionID
}

// CallID is the ID of the call that a tool runs for, by the context of its Run. It is empty elsewhere.
func CallID(ctx context.Context) string { return callOf(ctx).call }

// RunOf is the run that a tool runs in, by the context of its Run. It is empty elsewhere.
func RunOf(ctx context.Context) session.RunID { return callOf(ctx).run }

// SessionOf is the session that a tool runs in, by the context of its Run. It is empty elsewhere.
func SessionOf(ctx context.Context) session.SessionID { return callOf(ctx).session }

func callOf(ctx context.Context) calling {
	c, _ := ctx.Value(callKey{}).(calling)
	return c
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

// Announce shows a transient event, such as a [live.Notice], to all listeners, also between runs.
func (a *Agent) Announce(b session.Body) {
	if (session.Event{Body: b}).Transient() {
		a.feed.hub.moment(b)
	}
}
