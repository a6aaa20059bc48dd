package window

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Digester writes what stands for the beginning of a conversation. Implementations are safe for concurrent use.
type Digester interface {
	// Digest fills in Summary, and By, Files and Usage where it knows them: By and Usage also when it fails. It leaves when ctx ends.
	Digest(ctx context.Context, t Task) (session.Digest, error)
}

// Task is what a digest is to be made of.
type Task struct {
	Live   *llm.Request          // the request as it would be sent now: behind it a provider finds its cache
	Model  llm.Model             // that it would be sent to
	Events []session.Event       // what the digest will stand for, oldest first: messages as the journal has them, results behind their calls
	Before *session.Digest       // the digest that stands before these; nil: they are the beginning
	Todo   []session.TodoItem    // what is to be done, as of now
	Calls  []session.CallStarted // of these events
	Reason string                // "full", "overflow", "asked"
	Focus  string                // what is to be kept above all; empty: nothing in particular
	Tail   int                   // answers at the end of Live that stay word for word, with their results, beside the digest
	Limit  int                   // tokens that the summary may have
}

// work is a digest that is being written.
type work struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when digest and err are there
	plan   plan
	plain  bool // it is made without the Digester, which was asked in vain
	digest session.Digest
	err    error
}

// giveUp ends work that takes no effect, and waits for its end.
func (w *Window) giveUp(work *work) {
	work.cancel()
	<-work.done
	w.wasted(work)
}

// wasted tells what work has cost that takes no effect.
func (w *Window) wasted(work *work) {
	if d := work.digest; w.options.Spent != nil && d.Usage != (llm.Usage{}) {
		w.options.Spent(d.By, d.Usage)
	}
}

// plan says what a digest will stand for.
type plan struct {
	task    Task
	through session.ID
	cut     int        // the place of what is behind it, among the entries of the view
	before  session.ID // the digest that was in the view
}

// begin has a digest written in the background. Where nothing can be left out yet it does nothing.
func (w *Window) begin(ctx context.Context, d *draft) error {
	work, err := w.start(ctx, d, "full", "")
	if err != nil {
		if errors.Is(err, errNothing) {
			return nil
		}
		return err
	}
	w.mu.Lock()
	closed := w.closed
	if !closed {
		w.work = work
	}
	w.mu.Unlock()
	if closed {
		w.giveUp(work)
	}
	return nil
}

// start has a digest written beside the caller, who waits for it or stops it.
func (w *Window) start(ctx context.Context, d *draft, reason, focus string) (*work, error) {
	plan, err := w.plan(d, reason, focus)
	if err != nil {
		return nil, err
	}
	digester := w.options.Digester
	plain := w.gaveUp() || reason == "overflow" && d.estimate().Tokens > d.usable // a model would refuse this too
	if plain {
		digester = Outline{}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	work := &work{cancel: cancel, done: make(chan struct{}), plan: plan, plain: plain}
	w.announce(session.Compacting{Reason: reason})
	go func() {
		defer close(work.done)
		defer cancel()
		work.digest, work.err = write(ctx, digester, plan.task)
	}()
	return work, nil
}

// write asks a digester for a digest with a summary. A panic of it is an error: it runs beside everything else.
func write(ctx context.Context, by Digester, t Task) (d session.Digest, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the digester panicked: %v", p)
		}
	}()
	d, err = by.Digest(ctx, t)
	if err == nil && strings.TrimSpace(d.Summary) == "" {
		err = errors.New("the summary is empty")
	}
	return d, err
}

// finished takes the digest that was written in the background, if there is one.
func (w *Window) finished() *work {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work == nil {
		return nil
	}
	select {
	case <-w.work.done:
		done := w.work
		w.work = nil
		return done
	default:
		return nil
	}
}

// digestNow waits for a digest: that which is being written, or one that is made now. Where a model cannot write it, it is made without.
// When ctx ends, that is the error, and no failure of the digest.
func (w *Window) digestNow(ctx context.Context, d *draft, reason, focus string) error {
	w.mu.Lock()
	under := w.work
	w.work = nil
	w.mu.Unlock()
	if under != nil && (focus != "" || reason == "overflow") { // it does not know of the focus; nor that its request is too long
		w.cancelled(under)
		under = nil
	}
	for range 2 { // what was begun earlier may no longer fit
		begun := under == nil
		if begun {
			var err error
			if under, err = w.start(ctx, d, reason, focus); err != nil {
				return w.cannot(reason, err)
			}
		}
		select {
		case <-under.done:
		case <-ctx.Done():
			w.cancelled(under)
			return context.Cause(ctx)
		}
		applied, err := w.apply(ctx, d, under)
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.stuck = !applied
		w.mu.Unlock()
		if applied || begun {
			return nil
		}
		under = nil
	}
	return nil
}

// cancelled ends work that nobody waits for any more.
func (w *Window) cancelled(work *work) {
	w.giveUp(work)
	w.announce(session.Compacting{Reason: work.plan.task.Reason, Done: true, Error: "it was cancelled"})
}

// cannot tells people why no digest can be made. That there is nothing to leave out is no error of the request.
func (w *Window) cannot(reason string, err error) error {
	if !errors.Is(err, errNothing) {
		return err
	}
	w.mu.Lock()
	w.stuck = true
	w.mu.Unlock()
	w.announce(session.Compacting{Reason: reason, Done: true, Error: err.Error()})
	return nil
}
