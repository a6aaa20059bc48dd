package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

// maxRunning is how many calls run side by side at most.
const maxRunning = 16

// scheduler runs the calls of one answer.
type scheduler struct {
	*caller
	pending []*task // not begun, in the order of the calls
	running []*task
	done    chan *task // those that have ended, for the run's goroutine
	failed  error      // why no further call may begin
	calls   sync.WaitGroup
}

// task is a call that is run.
type task struct {
	*job
	place int             // among the calls, from 0
	early *earlyCall      // it has begun already; nil: it has not
	came  session.Message // the result of the tool, before hooks and bounds
}

// schedule runs jobs, each as soon as it collides with none before it, and returns when all of them have a result. Before
// a call begins it looks whether a message waits to enter: then the calls that have not begun are skipped.
func (r *caller) schedule(jobs []*job) error {
	s := scheduler{caller: r, done: make(chan *task, len(jobs))}
	for i, j := range jobs {
		s.pending = append(s.pending, &task{job: j, place: i})
	}
	over := false
	defer func() {
		if !over { // a panic of a hook ends the run: no call may outlive it
			s.cancel(errLeft)
			s.calls.Wait()
			for len(s.done) > 0 {
				t := <-s.done
				s.withhold(t)
				_, _ = s.append(*t.result) // if the journal fails, the next process recovers the call
			}
		}
	}()
	for {
		s.begin()
		if len(s.running) == 0 {
			over = true
			return s.failed
		}
		s.ended(<-s.done)
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
	case s.a.feed.waiting(session.FromSteering) && !s.pending[0].own:
		s.drop(session.OutcomeSkipped, "This call was not run: a new message came first.")
		return
	}
	var now, still []*task
	for _, t := range s.pending {
		if !s.may(t, still) {
			still = append(still, t)
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

// start makes it durable that calls begin, and lets them.
func (s *scheduler) start(now []*task) {
	if len(now) == 0 {
		return
	}
	entries := make([]session.Body, len(now))
	for i, t := range now {
		started := session.CallStarted{
			Call: t.call.ID, Tool: t.call.Name, Title: tool.Line(t.ready.Title), Arguments: t.ready.Arguments,
			ChangedBy: t.changed, Effects: encode(t.ready.Effects), Again: t.ready.Effects.Idempotent,
		}
		if name := t.name(); name != t.call.Name {
			started.As = name
		}
		entries[i] = started
	}
	if _, err := s.append(entries...); err != nil {
		s.failed = firstError(s.failed, err)
		s.running = slices.DeleteFunc(s.running, func(t *task) bool { return slices.Contains(now, t) })
		return
	}
	for _, t := range now {
		t.early = s.early.take(t)
		s.calls.Go(func() { s.call(t) })
	}
}

// call runs one call and hands its result to the goroutine of the run. It abandons a tool that does not return after its context has ended.
func (s *scheduler) call(t *task) {
	ctx, cancel := context.WithCancelCause(s.callContext(t.call.ID))
	defer cancel(nil)
	o := &s.a.options
	if o.ToolTimeout > 0 {
		timer := time.AfterFunc(o.ToolTimeout, func() { cancel(errToolTime) })
		defer timer.Stop()
	}
	returned := make(chan session.Message, 1)
	go func() {
		result := view.Result(t.call, session.OutcomeUnknown, "The tool ended without a result. Its effects are unknown.")
		defer func() { returned <- result }() // also when the tool ends its goroutine
		if report := s.report(ctx, t.call); t.early != nil {
			result = t.early.wait(ctx, report)
		} else {
			result = carryOut(ctx, o, t.call, t.ready, report)
		}
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
			result = view.Result(t.call, session.OutcomeUnknown, fmt.Sprintf(
				"The call ignored cancellation for %s and was abandoned. Its effects are unknown, and it may still be running.", o.ToolGrace))
		}
	}
	cancel(nil) // goroutines that the tool abandoned report no more
	t.came = result
	s.done <- t
}

// callContext is the context of a call of the run.
func (r *caller) callContext(id string) context.Context {
	ctx := context.WithValue(r.ctx, callKey{}, calling{id, r.id, r.a.Session()})
	return tool.WithLimit(ctx, r.limit()*7/8) // the rest is for notes
}

// carryOut runs the tool, if there still is time, and makes the result of what it returns.
func carryOut(ctx context.Context, o *Options, call llm.ToolCall, ready *tool.Call, report tool.Report) session.Message {
	if ctx.Err() != nil {
		return view.Result(call, session.OutcomeCancelled, "This call was not run: the run was cancelled as it began.")
	}
	m, err := contained(func() (session.Message, error) {
		res, err := contained(func() (tool.Result, error) { return ready.Run(ctx, report) })
		if ctx.Err() != nil && (err != nil || res.IsError) {
			return stopped(o, call, res, context.Cause(ctx)), nil
		}
		return message(call, res, err), nil
	})
	if err != nil { // its error or its details panicked
		return message(call, tool.Result{}, err)
	}
	return m
}

var errToolTime = errors.New("the time limit of a call was reached")

// stopped makes the result of a call that ended because its context did: its output so far, and the reason.
func stopped(o *Options, c llm.ToolCall, res tool.Result, cause error) session.Message {
	outcome, why := session.OutcomeCancelled, "the run was cancelled"
	switch {
	case errors.Is(cause, errToolTime):
		outcome, why = session.OutcomeFailed, fmt.Sprintf("it took longer than %s", o.ToolTimeout)
	case errors.Is(cause, errTime):
		why = "the time limit of the run was reached"
	}
	separator := ""
	if len(res.Content) > 0 {
		separator = "\n\n"
	}
	res.Content = append(slices.Clone(res.Content), llm.Text{Text: separator + "This call was stopped: " + why + "."})
	res.IsError = true
	m := message(c, res, nil)
	m.Outcome = outcome
	return m
}

// ended makes the result of a call that has ended durable, as the hooks let it through.
func (s *scheduler) ended(t *task) {
	s.running = slices.DeleteFunc(s.running, func(o *task) bool { return o == t })
	through := false
	defer func() {
		if !through { // a hook panicked
			s.withhold(t)
		}
		events, err := s.append(*t.result)
		if s.failed = firstError(s.failed, err); err == nil {
			t.entry = events[0]
		}
	}()
	s.result(t, s.a.hooks.afterCall(s.ctx, t.proposed(), t.came))
	through = true
}

// withhold is the result of a call if a hook panicked before it let the result through.
func (s *scheduler) withhold(t *task) {
	s.result(t, withheld(t.came, session.Speaker{Kind: session.SpeakerTenon}, "a hook failed."))
}

// result gives a call its result.
func (s *scheduler) result(t *task, m session.Message) {
	if len(t.changed) > 0 {
		by := make([]string, len(t.changed))
		for i, one := range t.changed {
			by[i] = strings.TrimSpace(string(one.Kind) + " " + one.Name)
		}
		m.Content = slices.Insert(slices.Clone(m.Content), 0, llm.Part(llm.Text{Text: fmt.Sprintf(
			"[This call ran with other arguments: %s. Changed by: %s]\n", t.ready.Arguments, strings.Join(by, ", "))}))
	}
	t.finish(t.framed(s.bounded(t.call, m)))
}

// drop gives the calls that have not begun their results.
func (s *scheduler) drop(outcome session.Outcome, text string) {
	var entries []session.Body
	for _, t := range s.pending {
		if t.settle(outcome, text); !t.own {
			entries = append(entries, *t.result)
		}
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
