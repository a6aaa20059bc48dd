package agent

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

func (r *run) append(bodies ...session.Body) ([]session.Event, error) {
	return r.a.feed.append(r.ctx, bodies...)
}

func (r *run) moment(b session.Body) { r.a.feed.hub.moment(b) }

// abandon ends the journal of a run that a panic or a runtime.Goexit of a hook, the gate or the window has ended. A run that has its end
// keeps it.
func (r *run) abandon(panicked any) {
	r.failed = &PanicError{Value: panicked, Stack: debug.Stack()}
	ctx := context.WithoutCancel(r.ctx)
	r.cancel(errLeft)
	r.a.feed.turn(0)
	lost, err := view.Recover(ctx, r.a.feed.branch, nil)
	if err == nil && len(lost) == 0 {
		return
	}
	end := session.RunEnded{Reason: session.ReasonError, Turns: r.turn, Usage: r.usage, Elapsed: session.Duration(time.Since(r.begunAt))}
	end.Message = r.failed.Error()
	if err == nil {
		lost[len(lost)-1] = end
		_, err = r.a.feed.append(ctx, lost...)
	}
	if err != nil {
		r.moment(end)
	}
}

// description is the entry that begins the run.
func (r *run) description() session.RunStarted {
	o, now := &r.a.options, r.setup
	start := session.RunStarted{
		Run: r.id, Continues: r.in.Kind, Tag: firstOf(r.in.Tag, o.Name),
		Config: session.Config{
			Model: now.client.Model(), Role: now.role, Tools: now.tools.names, Thinking: now.settings.Thinking,
			MaxTurns: now.limits.Turns, MaxTokens: now.limits.Tokens, MaxTime: session.Duration(now.limits.Time),
			MaxCost: cmp.Or(now.limits.Cost, DefaultCost), Execution: o.Execution.String(),
		},
	}
	start.Trigger = r.trigger(r.turn)
	if r.in.Kind != session.ContinuesNothing {
		start.ParentRun = r.previous
	}
	if o.SubAgent {
		start.ParentRun = firstOf(start.ParentRun, o.ParentRun)
	}
	return start
}

// steer lets messages in at the beginning of a turn: news, and steering unless a steering message began the turn. A run that continues with
// drafts alone begins with them.
func (r *run) steer() error {
	if _, err := r.enter(session.FromNews); err != nil {
		return err
	}
	if r.drafted {
		r.drafted = false
		lane := session.FromFollowUp
		if r.a.feed.waiting(session.FromSteering) {
			lane = session.FromSteering
		}
		entered, err := r.enter(lane)
		if entered == 0 && err == nil {
			err = errors.New("agent: all drafts were rejected")
		}
		return err
	}
	if r.steered {
		r.steered = false
		return nil
	}
	_, err := r.enter(session.FromSteering)
	return err
}

// failure makes the end of a run from the error that ends it. When the run was cancelled, that is the reason, whatever
// error came of it.
func (r *run) failure(err error) *session.RunEnded {
	if r.a.feed.err() == nil && r.ctx.Err() != nil {
		return r.cancelled()
	}
	if end := r.limitOf(err); end != nil {
		return end
	}
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.KindRefused {
		return ended(session.ReasonRefused, e.Error())
	}
	return ended(session.ReasonError, err.Error())
}

// cancelled makes the end of a run whose context has ended.
func (r *run) cancelled() *session.RunEnded {
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, errTime):
		end := limitEnd("time", "the limit of %s", r.limit)
		end.Spent, end.Max = time.Since(r.begunAt).Seconds(), r.limit.Seconds()
		return end
	case errors.Is(cause, errAborted):
		return ended(session.ReasonCancelled, "the run was aborted")
	case errors.Is(cause, errLeft):
		return ended(session.ReasonCancelled, "the run was torn down")
	case errors.Is(cause, context.DeadlineExceeded):
		return ended(session.ReasonCancelled, "the caller's deadline was reached")
	default:
		return ended(session.ReasonCancelled, "the run was cancelled")
	}
}

// end is the end of a run that a hook refused.
func (r *refusal) end() *session.RunEnded {
	if errors.Is(r.reason, ErrDone) {
		return ended(session.ReasonDone, "")
	}
	return &session.RunEnded{Reason: session.ReasonRefused, Message: r.Error(), By: r.by}
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
