package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// maxRunning is how many calls run side by side at most.
const maxRunning = 16

// scheduler runs the calls of one answer.
type scheduler struct {
	*run
	pending []*task // not begun, in the order of the calls
	running []*task
	done    chan *task // those that have ended, for the run's goroutine
	failed  error      // why no further call may begin
	calls   sync.WaitGroup
}

// task is a call that is run.
type task struct {
	*job
	place int   // among the calls, from 0
	err   error // of the journal, when the result could not be kept
}

// schedule runs jobs, each as soon as it collides with none before it, and returns when all of them have a result. Before
// a call begins it looks whether a message waits to enter: then the calls that have not begun are skipped.
func (r *run) schedule(jobs []*job) error {
	s := scheduler{run: r, done: make(chan *task, len(jobs))}
	for i, j := range jobs {
		s.pending = append(s.pending, &task{job: j, place: i})
	}
	over := false
	defer func() {
		if !over { // a panic of the consumer or a hook passes through: no call may outlive the run
			s.cancel(errLeft)
			s.calls.Wait()
		}
	}()
	for {
		s.begin()
		if len(s.running) == 0 {
			over = true
			return s.failed
		}
		s.wait()
	}
}

// begin starts every pending call that may run now.
func (s *scheduler) begin() {
	if len(s.pending) == 0 {
		return
	}
	switch {
	case s.ctx.Err() != nil:
		s.drop(session.OutcomeCancelled, "This call was not run: the run was cancelled before it began.")
		return
	case s.failed != nil || s.a.feed.err() != nil:
		s.failed = firstError(s.failed, s.a.feed.err())
		s.drop(session.OutcomeSkipped, "This call was not run: the run failed before it began.")
		return
	case s.a.queue.waiting(session.FromSteering):
		s.drop(session.OutcomeSkipped, "This call was not run: a new message came first.")
		return
	}
	var now, still []*task
	for _, t := range s.pending {
		if !s.may(t, still) {
			still = append(still, t)
			continue
		}
		if veto := s.veto(t); veto != nil {
			s.block(t, veto)
			continue
		}
		now = append(now, t)
		s.running = append(s.running, t)
	}
	s.pending = still
	s.start(now)
}

// may reports whether a call may begin: nothing that runs, and nothing before it that still waits, stands in its way.
func (s *scheduler) may(t *task, waiting []*task) bool {
	if len(s.running) >= maxRunning {
		return false
	}
	size := s.a.options.Execution.size
	blocks := func(o *task) bool {
		if o.place >= t.place {
			return false
		}
		if size > 0 && o.place/size != t.place/size {
			return true
		}
		return o.ready.Effects.Collides(t.ready.Effects)
	}
	return !slices.ContainsFunc(s.running, blocks) && !slices.ContainsFunc(waiting, blocks)
}

func (s *scheduler) veto(t *task) error {
	if before := s.a.options.Hooks.BeforeTool; before != nil {
		return before(s.ctx, t.call)
	}
	return nil
}

// block answers a call that a hook has vetoed.
func (s *scheduler) block(t *task, veto error) {
	t.settle(session.OutcomeDenied, "This call was not run: "+veto.Error()+".")
	_, err := s.append(*t.result)
	s.failed = firstError(s.failed, err)
}

// start makes it durable that calls begin, and lets them.
func (s *scheduler) start(now []*task) {
	if len(now) == 0 {
		return
	}
	entries := make([]session.Body, len(now))
	for i, t := range now {
		entries[i] = session.CallStarted{
			Call: t.call.ID, Tool: t.call.Name, Arguments: t.ready.Arguments,
			Effects: encode(t.ready.Effects), Again: t.ready.Effects.Idempotent,
		}
	}
	if _, err := s.append(entries...); err != nil {
		s.failed = firstError(s.failed, err)
		s.running = slices.DeleteFunc(s.running, func(t *task) bool { return slices.Contains(now, t) })
		return
	}
	for _, t := range now {
		s.calls.Go(func() { s.call(t) })
	}
}

// call runs one call, keeps its result at once, and reports that it has ended. A tool that does not return after its
// context has ended is left behind.
func (s *scheduler) call(t *task) {
	ctx, cancel := context.WithCancelCause(context.WithValue(s.ctx, callKey{}, t.call.ID))
	defer cancel(nil)
	o := &s.a.options
	if o.ToolTimeout > 0 {
		timer := time.AfterFunc(o.ToolTimeout, func() { cancel(errToolTime) })
		defer timer.Stop()
	}
	returned := make(chan session.Message, 1)
	go func() {
		result := session.Result(t.call, session.OutcomeUnknown, "The tool went away without a result. What it did is unknown.")
		defer func() { returned <- result }() // also when the tool ends its goroutine
		result = s.carryOut(ctx, t)
	}()
	var result session.Message
	select {
	case result = <-returned:
	case <-ctx.Done():
		grace := time.NewTimer(o.ToolGrace)
		defer grace.Stop()
		select {
		case result = <-returned:
		case <-grace.C:
			result = session.Result(t.call, session.OutcomeUnknown, fmt.Sprintf(
				"This call was told to stop and did not within %s. It was left behind; what it did or will do is unknown.", o.ToolGrace))
		}
	}
	cancel(nil) // what the tool may have left behind tells no more
	if t.changed {
		result.Content = slices.Insert(slices.Clone(result.Content), 0, llm.Part(llm.Text{Text: fmt.Sprintf(
			"[Before this call was allowed, its arguments were changed to %s]\n", t.ready.Arguments)}))
	}
	t.finish(result)
	_, t.err = s.a.feed.append(s.ctx, *t.result)
	s.done <- t
}

// carryOut runs the tool, if there still is time, and makes the result of what it returns.
func (s *scheduler) carryOut(ctx context.Context, t *task) session.Message {
	if ctx.Err() != nil {
		return session.Result(t.call, session.OutcomeCancelled, "This call was not run: the run was cancelled as it began.")
	}
	m, err := contained(func() (session.Message, error) {
		res, err := contained(func() (tool.Result, error) { return t.ready.Run(ctx, s.report(ctx, t.call)) })
		if ctx.Err() != nil && (err != nil || res.IsError) {
			return s.stopped(t.call, res, context.Cause(ctx)), nil
		}
		return s.message(t.call, res, err), nil
	})
	if err != nil { // its error or its details panicked
		return s.message(t.call, tool.Result{}, err)
	}
	return m
}

var errToolTime = errors.New("the time limit of a call was reached")

// stopped makes the result of a call that ended because its context did: what it had so far, and why it ended.
func (s *scheduler) stopped(c llm.ToolCall, res tool.Result, cause error) session.Message {
	outcome, why := session.OutcomeCancelled, "the run was cancelled"
	switch {
	case errors.Is(cause, errToolTime):
		outcome, why = session.OutcomeFailed, fmt.Sprintf("it took longer than %s", s.a.options.ToolTimeout)
	case errors.Is(cause, errTime):
		why = "the time limit of the run was reached"
	}
	separator := ""
	if len(res.Content) > 0 {
		separator = "\n\n"
	}
	res.Content = append(slices.Clone(res.Content), llm.Text{Text: separator + "This call was stopped: " + why + "."})
	res.IsError = true
	m := s.message(c, res, nil)
	m.Outcome = outcome
	return m
}

// wait hands out what happens until a call has ended.
func (s *scheduler) wait() {
	for {
		select {
		case t := <-s.done:
			s.ended(t)
			return
		case <-s.a.feed.arrived:
			s.drain()
		}
	}
}

// ended takes a call off the list.
func (s *scheduler) ended(t *task) {
	s.running = slices.DeleteFunc(s.running, func(o *task) bool { return o == t })
	s.failed = firstError(s.failed, t.err)
	s.drain()
	if after := s.a.options.Hooks.AfterTool; after != nil {
		after(s.ctx, t.call, *t.result)
	}
}

// drop gives the calls that have not begun their results.
func (s *scheduler) drop(outcome session.Outcome, text string) {
	var entries []session.Body
	for _, t := range s.pending {
		t.settle(outcome, text)
		entries = append(entries, *t.result)
	}
	s.pending = nil
	if _, err := s.append(entries...); err != nil {
		s.failed = firstError(s.failed, err)
	}
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
