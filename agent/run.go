package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// append makes entries durable and hands out what has happened.
func (r *run) append(bodies ...session.Body) ([]session.Event, error) {
	events, err := r.a.feed.append(r.ctx, bodies...)
	r.drain()
	return events, err
}

// moment tells a passing moment and hands out what has happened.
func (r *run) moment(b session.Body) {
	r.a.feed.moment(b)
	r.drain()
}

// drain hands to the consumer what has come in. When the consumer leaves, the run is cancelled; the rest is for the
// journal alone.
func (r *run) drain() {
	events := r.a.feed.take(r.spare)
	for i, e := range events {
		if !r.left {
			r.left = !r.hand(e)
			if r.left {
				r.cancel(errLeft)
			}
		}
		events[i] = session.Event{}
	}
	r.spare = events
}

// hand yields one event, between the hooks about progress when it is one.
func (r *run) hand(e session.Event) bool {
	p, ok := e.Body.(session.Progress)
	if !ok {
		return r.yield(e, nil)
	}
	hooks := &r.a.options.Hooks
	if hooks.BeforeProgress != nil && !hooks.BeforeProgress(r.ctx, p) {
		return true
	}
	more := r.yield(e, nil)
	if hooks.AfterProgress != nil {
		hooks.AfterProgress(r.ctx, p)
	}
	return more
}

// tell lets the hook see the error that ends the run, once.
func (r *run) tell(end *session.RunEnded, err error) {
	if err == nil || end.Reason != session.ReasonError || r.told {
		return
	}
	r.told = true
	if on := r.a.options.Hooks.OnError; on != nil {
		on(r.ctx, err)
	}
}

// abandon ends the journal of a run through which a panic passes, or a runtime.Goexit: of its consumer, a hook, the gate
// or the window. It does nothing after a proper end.
func (r *run) abandon() {
	ctx := context.WithoutCancel(r.ctx)
	r.a.feed.turn(0)
	lost, err := session.Recover(ctx, r.a.feed.branch)
	if err != nil || len(lost) == 0 {
		return
	}
	end := lost[len(lost)-1].(session.RunEnded)
	end.Message = "the run was torn down by a panic around it"
	lost[len(lost)-1] = end
	_, _ = r.a.feed.append(ctx, lost...) // nobody is left to be told an error
}

// head returns what must stand before the start of the run: for new input the answer that was cut off before it, for a
// rerun or a branch the step back to where it goes on. It checks that the run can go on from there.
func (r *run) head() ([]session.Body, error) {
	switch {
	case r.ctx.Err() != nil:
		return nil, fmt.Errorf("agent: the run did not begin: %w", context.Cause(r.ctx))
	case r.how.Kind != session.ContinuesNothing:
		return r.headAgain()
	case len(r.input) == 0:
		return nil, errors.New("agent: Run without a message; use Continue to go on without one")
	case slices.ContainsFunc(r.input, llm.Message.Empty):
		return nil, errEmpty
	default:
		return session.Settle(r.ctx, r.a.feed.branch)
	}
}

// headAgain is head for a continuation.
func (r *run) headAgain() ([]session.Body, error) {
	from := r.how.From
	if r.how.Kind == session.ContinuesDefault {
		if from != "" {
			return nil, errors.New("agent: a default continuation goes on where the branch stands; to name an entry, use a rerun or a branch")
		}
		if err := session.Continuable(r.ctx, r.a.feed.branch); err != nil || !r.a.queue.waiting(session.FromSteering) {
			return nil, err
		}
		return session.Settle(r.ctx, r.a.feed.branch) // for the message that enters first
	}
	if from == "" {
		if r.how.Kind == session.ContinuesBranch {
			return nil, errors.New("agent: a branch needs the entry to go on from, in Continuation.From")
		}
		last, err := lastInput(r.ctx, r.a.feed.branch)
		if err != nil {
			return nil, err
		}
		from = last
	}
	if err := session.Continuable(r.ctx, session.Stored(r.a.store, r.a.Session(), from)); err != nil {
		return nil, fmt.Errorf("agent: go on from entry %s: %w", from, err)
	}
	return []session.Body{session.Head{To: from, Reason: string(r.how.Kind)}}, nil
}

// lastInput is the newest message on a branch that came from a person.
func lastInput(ctx context.Context, p session.Path) (session.ID, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return "", err
		}
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleUser && m.Source != session.FromLoop {
			return e.ID, nil
		}
	}
	return "", errors.New("agent: there is no message to answer again")
}

// description is the entry that begins the run.
func (r *run) description() session.RunStarted {
	o := &r.a.options
	start := session.RunStarted{
		Run: r.id, Continues: r.how.Kind, Tag: r.how.Tag,
		Config: session.Config{
			Model: r.a.client().Model(), Tools: r.a.tools.names, Thinking: o.Thinking,
			MaxTurns: o.Limits.Turns, MaxTokens: o.Limits.Tokens, MaxTime: session.Duration(o.Limits.Time),
			MaxCost: o.Limits.Cost, Execution: o.Execution.String(),
		},
	}
	start.Trigger = r.trigger()
	if r.how.Kind != session.ContinuesNothing {
		start.ParentRun = r.previous
	}
	if o.SubAgent {
		start.ParentRun = firstOf(start.ParentRun, o.ParentRun)
	}
	return start
}

// trigger says what made the turn begin that begins now.
func (r *run) trigger() session.Trigger {
	switch {
	case r.turn > 1:
		return session.TriggerContinuation
	case r.how.Kind == session.ContinuesBranch:
		return session.TriggerBranch
	case r.how.Kind != session.ContinuesNothing:
		return session.TriggerContinuation
	case r.a.options.SubAgent:
		return session.TriggerSubAgent
	default:
		return session.TriggerUser
	}
}

// limitTime ends the run's context when its time is over, so that a call that hangs cannot outlive the limit.
func (r *run) limitTime() (stop func()) {
	limit := r.a.options.Limits.Time
	if limit <= 0 {
		return func() {}
	}
	t := time.AfterFunc(limit-time.Since(r.started), func() { r.cancel(errTime) })
	return func() { t.Stop() }
}

// steer lets steering messages in at the beginning of a turn, unless one entered already for which the turn begins.
func (r *run) steer() error {
	if r.steered {
		r.steered = false
		return nil
	}
	_, err := r.enter(session.FromSteering)
	return err
}

// enter moves drafts from a lane into the conversation and returns how many.
func (r *run) enter(lane session.Source) (int, error) {
	how := r.a.options.Steering
	if lane == session.FromFollowUp {
		how = r.a.options.FollowUps
	}
	entered, err := r.a.queue.enter(r.ctx, lane, how, func(d Draft) (session.Body, bool) {
		body, rejected := r.a.entry(r.ctx, d.Message, d.Lane, d.ID)
		return body, rejected == ""
	})
	r.drain()
	return entered, err
}

// failure makes the end of a run from the error that ends it. When the run was cancelled, that is the reason, whatever
// error came of it.
func (r *run) failure(err error) *session.RunEnded {
	if r.a.feed.err() == nil && r.ctx.Err() != nil {
		return r.cancelled()
	}
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.KindRefused {
		return ended(session.ReasonRefused, e.Error())
	}
	if v, ok := errors.AsType[*vetoError](err); ok {
		return ended(session.ReasonRefused, v.Error())
	}
	return ended(session.ReasonError, err.Error())
}

// cancelled makes the end of a run whose context has ended.
func (r *run) cancelled() *session.RunEnded {
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, errTime):
		return limitEnd("time", "the limit of %s", r.a.options.Limits.Time)
	case errors.Is(cause, errAborted):
		return ended(session.ReasonCancelled, "the run was aborted")
	case errors.Is(cause, errLeft):
		return ended(session.ReasonCancelled, "the run was left")
	case errors.Is(cause, context.DeadlineExceeded):
		return ended(session.ReasonCancelled, "the caller's deadline was reached")
	default:
		return ended(session.ReasonCancelled, "the run was cancelled")
	}
}

func ended(reason session.Reason, message string) *session.RunEnded {
	return &session.RunEnded{Reason: reason, Message: message}
}

func firstOf[S ~string](a, b S) S {
	if a != "" {
		return a
	}
	return b
}

// vetoError is the reason that a hook gave.
type vetoError struct{ reason error }

func (e *vetoError) Error() string { return e.reason.Error() }
func (e *vetoError) Unwrap() error { return e.reason }
