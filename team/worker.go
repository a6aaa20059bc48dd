package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
)

// worker works on one attempt at a task, on one goroutine: it opens the sub-agent, starts its runs, and settles the attempt.
type worker struct {
	t          *Team
	created    session.TaskCreated
	attempt    int
	run        session.RunID // of the owner, which gave the task
	budget     *budget.Budget
	foreground atomic.Bool // a call of the owner waits for it
	began      bool        // the entry of its start is written

	ctx    context.Context
	cancel context.CancelCauseFunc
	poke   chan struct{} // something has come for the sub-agent
	over   chan struct{} // closed when the worker has ended
	slot   bool          // it has one
	ran    bool          // a run of the attempt has ended
	words  string        // the last ones of that run
	child  child

	delivering sync.Mutex

	mu     sync.Mutex
	member Member // nil: not open

	// Of flush.
	reading sync.Mutex
	seen    int64 // of the journal of the sub-agent
	report  *session.TaskReport
}

// worker makes the worker for the open attempt at a task. The lock of the team is held.
func (t *Team) worker(one *Task) *worker {
	w := &worker{
		t: t, created: one.TaskCreated, attempt: max(one.Attempt, 1),
		poke: make(chan struct{}, 1), over: make(chan struct{}),
	}
	w.ctx, w.cancel = context.WithCancelCause(t.ctx)
	w.child.worker = w
	return w
}

// cancelled is the cause with which the context of a worker ends when its task is cancelled.
type cancelled struct{ reason string }

func (c *cancelled) Error() string { return c.reason }

// wake lets the worker look at what has come.
func (w *worker) wake() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// current returns the agent that is open; nil: none is.
func (w *worker) current() Member {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.member
}

// live is the whole life of the worker. If the team closes first, the attempt stays open.
func (w *worker) live() {
	defer w.cancel(nil)
	defer close(w.over)
	report, settled := w.contained()
	w.close()
	w.leave()
	if settled {
		w.t.settle(w, report)
	}
}

// contained is pursue without its panics. If settled is false, the team has closed.
func (w *worker) contained() (report session.TaskReport, settled bool) {
	defer func() {
		if p := recover(); p != nil {
			report, settled = failed(fmt.Sprintf("the sub-agent panicked: %v", p)), true
		}
	}()
	r, err := w.pursue()
	switch c, ok := errors.AsType[*cancelled](context.Cause(w.ctx)); {
	case r != nil:
		return *r, true
	case ok:
		return session.TaskReport{Outcome: session.TaskCancelled, Summary: c.reason}, true
	default:
		return failed(err.Error()), w.ctx.Err() == nil
	}
}

// failed is the report of an attempt that failed.
func failed(why string) session.TaskReport {
	return session.TaskReport{Outcome: session.TaskFailed, Summary: why}
}

// pursue works on the attempt until it can be settled.
func (w *worker) pursue() (*session.TaskReport, error) {
	for live := false; ; { // live: this process saw the last run end
		if report, err := w.flush(w.ctx); err != nil || report != nil {
			return report, err
		}
		one, _ := w.t.Task(w.created.Task)
		switch come, err := pending(w.ctx, w.t.options.Store, &one); {
		case w.ctx.Err() != nil:
			return nil, context.Cause(w.ctx)
		case err != nil:
			return nil, err
		case one.Decision() != nil && !come:
			w.leave()
			select {
			case <-w.poke:
			case <-w.ctx.Done():
			}
			continue
		}
		if err := w.ready(); err != nil {
			return nil, err
		}
		in, report, err := w.next(live)
		if err != nil || report != nil {
			return report, err
		}
		out, err := agent.Wait(w.member.Agent().Do(w.ctx, in))
		_, broken := errors.AsType[*agent.JournalError](err)
		switch {
		case errors.Is(err, agent.ErrBusy): // a person talks to the sub-agent: its hook reports the end
			select {
			case <-w.poke:
			case <-time.After(time.Second): // it may have been no run
			case <-w.ctx.Done():
			}
		case late(err): // a person has removed the draft
		case broken || err != nil && out.Ended.Reason == "":
			return nil, err
		default:
			live, w.ran, w.words = true, true, out.Text // if it failed, the entry of its end has the error
		}
	}
}

func late(err error) bool {
	_, ok := errors.AsType[*request.LateError](err)
	return ok
}

// wakes reports whether a draft waits that starts a run.
func wakes(drafts []request.Draft) bool {
	return slices.ContainsFunc(drafts, func(d request.Draft) bool { return d.Lane != session.FromNews })
}

// ready takes a slot, opens the agent and delivers what it lacks.
func (w *worker) ready() error {
	if !w.slot {
		select {
		case w.t.slots <- struct{}{}:
			w.slot = true
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
	if w.current() == nil {
		if err := w.open(w.ctx); err != nil {
			return fmt.Errorf("cannot start: %w", err)
		}
	}
	return w.deliver(w.ctx)
}

// leave gives the slot back.
func (w *worker) leave() {
	if w.slot {
		<-w.t.slots
	}
	w.slot = false
}

// open makes the agent, or opens its session again, and records that.
func (w *worker) open(ctx context.Context) (err error) {
	t := w.t
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("Options.Open panicked: %v", p)
		}
	}()
	b := w.budget
	if b == nil {
		b = budgetOf(context.Background(), t.owner, w.created)
	}
	one, _ := t.Task(w.created.Task)
	a := Assignment{
		Task: w.created.Task, Attempt: w.attempt, Session: one.Session, Parent: t.owner.Session(), ParentRun: w.run,
		Name: w.created.Name, Role: w.created.Role, Text: w.created.Text, Scope: w.created.Scope,
		Depth: t.options.Depth + 1, Budget: b, Tools: w.child.tools(), Hook: w.child.hook(), Wake: w.wake,
	}
	if w.created.Worktree {
		a.Worktree = worktreeOf(w.created.Task)
	}
	m, err := t.options.Open(ctx, a)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.member = m
	w.mu.Unlock()
	if w.began {
		return nil
	}
	w.began = true
	id := m.Agent().Session()
	created, err := createdOf(ctx, t.options.Store, id)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.record(ctx, session.TaskStarted{Task: w.created.Task, Attempt: w.attempt, Session: id, Dir: created.Dir, Worktree: a.Worktree})
}

// worktreeOf is the name of the worktree of a task. A process that dies before it records the name finds the same one again.
func worktreeOf(task session.ID) string { return "task-" + string(task) }

// close closes the agent.
func (w *worker) close() {
	w.mu.Lock()
	m := w.member
	w.member = nil
	w.mu.Unlock()
	if m != nil {
		_ = m.Close() // every entry is durable before
	}
}

// next returns the start of the next run, or the report without a further run.
func (w *worker) next(live bool) (in agent.Input, _ *session.TaskReport, _ error) {
	a := w.member.Agent()
	one, _ := w.t.Task(w.created.Task)
	last, err := lastRun(w.ctx, w.t.options.Store, a.Session(), one.Since)
	if err != nil {
		return in, nil, err
	}
	lost := last != nil && (last.Reason == session.ReasonInterrupted || !live && last.Reason == session.ReasonCancelled)
	if lost && view.Continuable(w.ctx, a.Path()) == nil {
		return in, nil, nil
	}
	if d, ok := firstDraft(a.Requests().Drafts, nil); ok {
		return inputOf(d), nil, nil
	}
	var report session.TaskReport
	switch {
	case last == nil:
		report = failed("the prompt was removed before it began")
	case last.Reason == session.ReasonCancelled && !lost:
		report = session.TaskReport{Outcome: session.TaskCancelled, Summary: "its run was cancelled"}
	case last.Reason != session.ReasonDone && !lost:
		report = failed(last.Message)
	case w.child.remind():
		return agent.Input{Messages: []llm.Message{llm.UserText(reminder)}, Speaker: session.Speaker{Kind: session.SpeakerHook, Name: hookName}}, nil, nil
	default:
		report = failed("it ended without a call of complete or escalate; its last words: " + w.words)
	}
	return in, &report, nil
}

// firstDraft returns the draft that enters a conversation first and starts a run.
func firstDraft(drafts []request.Draft, of func(session.Message) bool) (request.Draft, bool) {
	for _, lane := range []session.Source{session.FromSteering, session.FromFollowUp} {
		for _, d := range drafts {
			if d.Lane == lane && (of == nil || of(d.Message)) {
				return d, true
			}
		}
	}
	return request.Draft{}, false
}

// inputOf starts a run with a draft.
func inputOf(d request.Draft) agent.Input {
	return agent.Input{Messages: []llm.Message{d.Message.Message}, Speaker: d.Message.Speaker, Draft: d.ID}
}

// lastRun returns the end of the newest run, if the run began after a time; nil: it did not.
func lastRun(ctx context.Context, log session.Log, id session.SessionID, since time.Time) (last *session.RunEnded, _ error) {
	for e, err := range log.Read(ctx, id, 0, "run_started", "run_ended") {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case session.RunStarted:
			last = nil
			if !e.Time.Before(since) {
				last = &session.RunEnded{Reason: session.ReasonInterrupted}
			}
		case session.RunEnded:
			if last != nil {
				last = &b
			}
		}
	}
	return last, nil
}

// verified returns the report with the usage of the attempt, and with what the journal says about its claims.
func (w *worker) verified(ctx context.Context, r session.TaskReport) session.TaskReport {
	one, _ := w.t.Task(w.created.Task)
	if one.Session == "" {
		return r
	}
	begun := int64(-1) // the entry before the first run of the attempt
	for e, err := range w.t.options.Store.Read(ctx, one.Session, 0, "run_started", "run_ended") {
		if err != nil || e.Time.Before(one.Since) { // of an error, Verify reports the next one
			continue
		}
		switch b := e.Body.(type) {
		case session.RunStarted:
			if begun < 0 {
				begun = e.Seq - 1
			}
		case session.RunEnded:
			r.Usage = r.Usage.Plus(b.Usage)
		}
	}
	if r.Outcome != session.TaskCompleted && begun < 0 {
		return r
	}
	out, err := Verify(ctx, w.t.options.Store, one.Session, max(begun, 0), one.Dir, r)
	if err != nil {
		out = r
		out.Doubts = append(out.Doubts, "its claims were not verified: "+err.Error())
	}
	return out
}
