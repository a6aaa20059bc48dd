package agent

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// maxEarly is how many calls run at a time while the answer is still coming.
const maxEarly = 4

// Foreseer is a [Gate] that can say in advance that it allows a call: without asking anyone, and without any effect. The agent begins such a
// call while the answer is still coming, if it only reads files.
type Foreseer interface {
	Foresee(call Proposed) (allow bool)
}

// early are the calls of an answer that began before the answer was complete. Their results count only if the whole answer arrives, and the
// hooks and the gate let the same calls run: then the journal is the same as without them, and the turn ends sooner. Otherwise they are
// discarded, and no one learns of them.
type early struct {
	*caller
	calls []*earlyCall
	over  bool // a call came that cannot begin early: later ones might depend on it
	on    sync.WaitGroup
}

// earlyCall is one of them.
type earlyCall struct {
	call   llm.ToolCall
	ready  *tool.Call
	limit  int // of its result
	cancel context.CancelCauseFunc
	use    func()
	done   chan struct{}
	came   session.Message // good once done is closed

	mu       sync.Mutex
	used     bool
	progress []string // reported before it was used
	report   tool.Report
}

// begin starts a call of an answer that is still coming, if it may begin early.
func (r *early) begin(written llm.ToolCall) {
	if r.over || len(r.calls) == maxEarly || r.concluding || r.a.options.Execution.size > 0 {
		return
	}
	j, ok := r.foresee(written)
	if !ok {
		r.over = true
		return
	}
	same := func(c *earlyCall) bool {
		return c.call.Name == j.call.Name && slices.Equal(c.ready.Arguments, j.ready.Arguments)
	}
	if slices.ContainsFunc(r.calls, same) {
		return // the second one is answered by the first
	}
	e := &earlyCall{call: j.call, ready: j.ready, limit: r.limit(), done: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(r.callContext(j.call.ID))
	ctx, e.use = tool.Unused(ctx)
	e.cancel = cancel
	r.calls = append(r.calls, e)
	r.on.Go(func() {
		defer close(e.done)
		e.came = carryOut(ctx, &r.a.options, e.call, e.ready, e.note)
	})
}

// foresee prepares a call, and reports whether it only reads files, and the gate allows it without a question.
func (r *early) foresee(written llm.ToolCall) (*job, bool) {
	gate, ok := r.setup.gate.(Foreseer)
	if !ok || written.ID == "" || written.Truncated {
		return nil, false
	}
	if len(r.calls) == 0 {
		room, err := r.a.options.Window.Room(r.ctx, r.a.feed.branch, r.header())
		if err != nil || room.Blocked {
			return nil, false
		}
		r.room = room
	}
	canonical, err := r.setup.dialect.Call(written)
	if err != nil {
		return nil, false
	}
	j := &job{call: canonical, written: written.Name}
	if r.prepare(j, canonical.Arguments) != nil {
		return nil, false
	}
	e := j.ready.Effects
	if !e.ReadOnly() || !e.Idempotent || e.Command != "" || e.Asks || len(e.Reads) == 0 {
		return nil, false
	}
	return j, gate.Foresee(j.proposed())
}

// note keeps the progress of a call until its result is used.
func (e *earlyCall) note(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used {
		e.report(text)
		return
	}
	e.progress = append(e.progress, text)
}

// take returns the early call that is a call of the complete answer; nil: there is none. The caller uses its result.
func (r *early) take(t *task) *earlyCall {
	i := slices.IndexFunc(r.calls, func(e *earlyCall) bool { return e.call.ID == t.call.ID })
	if i < 0 {
		return nil
	}
	e := r.calls[i]
	same := e.call.Name == t.call.Name && slices.Equal(e.ready.Arguments, t.ready.Arguments) && e.limit == r.limit() &&
		reflect.DeepEqual(e.ready.Effects, t.ready.Effects)
	if !same {
		return nil
	}
	r.calls = slices.Delete(r.calls, i, i+1)
	return e
}

// wait uses the result of an early call, and returns it.
func (e *earlyCall) wait(ctx context.Context, report tool.Report) session.Message {
	e.mu.Lock()
	e.used, e.report = true, report
	for _, text := range e.progress {
		report(text)
	}
	e.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { e.cancel(context.Cause(ctx)) })
	defer stop()
	<-e.done
	e.use()
	e.cancel(nil)
	return e.came
}

// discard cancels the calls that no one used.
func (r *early) discard() {
	for _, e := range r.calls {
		e.cancel(errDiscarded)
	}
	r.calls, r.over = nil, false
}

// end waits for the discarded calls at the end of a run: they only read, and end soon. It abandons a call that ignores its cancellation.
func (r *early) end() {
	r.discard()
	done := make(chan struct{})
	go func() {
		r.on.Wait()
		close(done)
	}()
	grace := time.NewTimer(r.a.options.ToolGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	}
}
