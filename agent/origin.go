package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
)

// origin is what a run starts from.
type origin struct {
	a        *Agent
	in       Input
	previous session.RunID  // the run before it, if there is one
	resumed  llm.Message    // the answer whose calls the run continues
	open     []llm.ToolCall // those calls; none: the run starts otherwise
	drafted  bool           // the run continues with drafts after an answer
}

// head returns what must precede the start of the run: for new input the end of an answer that was cut off before it, and for a run from
// an earlier entry the step to there. It checks that the run can go on from there.
func (o *origin) head(ctx context.Context) ([]session.Body, error) {
	in := &o.in
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("agent: the run did not begin: %w", context.Cause(ctx))
	case slices.ContainsFunc(in.Messages, llm.Message.Empty):
		return nil, errEmpty
	case in.Draft != "" && !o.waits(in.Draft):
		return nil, &request.LateError{What: "draft", ID: string(in.Draft)}
	case len(in.Messages) == 0:
		again, err := o.headAgain(ctx)
		return append(again, o.withdrawn()...), err
	case in.From == "":
		settled, err := view.Settle(ctx, o.a.feed.branch)
		return append(settled, o.withdrawn()...), err
	}
	in.Kind = session.ContinuesBranch
	settled, err := view.Settle(ctx, view.Stored(o.a.store, o.a.Session(), in.From))
	if err != nil {
		return nil, fmt.Errorf("agent: go on from entry %s: %w", in.From, err)
	}
	head := append([]session.Body{session.Head{To: in.From, Reason: string(in.Kind)}}, settled...)
	return append(head, o.withdrawn()...), nil
}

// waits reports whether a draft is in the queue.
func (o *origin) waits(draft session.ID) bool {
	drafts, _ := o.a.feed.drafts()
	return slices.ContainsFunc(drafts, func(d request.Draft) bool { return d.ID == draft })
}

// withdrawn ends the questions of agents that are no more, except for those of the calls with which the run continues.
func (o *origin) withdrawn() []session.Body { return o.a.feed.unasked(o.open) }

// headAgain is head without new input.
func (o *origin) headAgain(ctx context.Context) ([]session.Body, error) {
	in := &o.in
	in.Kind = firstOf(in.Kind, session.ContinuesDefault)
	if in.Kind == session.ContinuesDefault {
		if in.From != "" {
			return nil, errors.New("agent: a default continuation goes on from the end of the branch; to name an entry, use a rerun or a branch")
		}
		answer, open, err := view.OpenCalls(ctx, o.a.feed.branch)
		if err != nil {
			return nil, err
		}
		if len(open) > 0 && !answer.Imported {
			o.resumed, o.open = answer.Body.(session.Message).Message, open
			return nil, nil
		}
		if len(open) > 0 { // a file does not start calls: the model continues without them
			return view.Settle(ctx, o.a.feed.branch)
		}
		steering := o.a.feed.waiting(session.FromSteering)
		err = view.Continuable(ctx, o.a.feed.branch)
		if errors.Is(err, view.ErrAnswered) || errors.Is(err, view.ErrNoMessage) {
			if o.drafted = steering || o.a.feed.waiting(session.FromFollowUp); o.drafted {
				err = nil
			}
		}
		if err != nil || !steering && !o.drafted {
			return nil, err
		}
		return view.Settle(ctx, o.a.feed.branch) // for the message that enters first
	}
	if in.From == "" {
		if in.Kind == session.ContinuesBranch {
			return nil, errors.New("agent: a branch needs the entry to go on from, in Continuation.From")
		}
		last, err := lastInput(ctx, o.a.feed.branch)
		if err != nil {
			return nil, err
		}
		in.From = last
	}
	from := view.Stored(o.a.store, o.a.Session(), in.From)
	err := view.Continuable(ctx, from)
	if _, open, failed := view.OpenCalls(ctx, from); len(open) > 0 || failed != nil {
		err = firstError(failed, view.ErrAnswered)
	}
	if err != nil {
		return nil, fmt.Errorf("agent: go on from entry %s: %w", in.From, err)
	}
	return []session.Body{session.Head{To: in.From, Reason: string(in.Kind)}}, nil
}

// lastInput is the newest message of a person on a branch, or the last one that hooks added to it.
func lastInput(ctx context.Context, p view.Path) (session.ID, error) {
	var added session.ID
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return "", err
		}
		m, ok := e.Body.(session.Message)
		switch {
		case !ok:
		case m.ByPerson():
			return firstOf(added, e.ID), nil
		case m.Source != session.FromHook:
			added = ""
		default:
			added = firstOf(added, e.ID)
		}
	}
	return "", errors.New("agent: there is no message to answer again")
}

// trigger says what made the turn begin that begins now.
func (o *origin) trigger(turn int) live.Trigger {
	switch {
	case turn > 1:
		return live.TriggerContinuation
	case o.in.Kind == session.ContinuesBranch:
		return live.TriggerBranch
	case o.in.Kind != session.ContinuesNothing:
		return live.TriggerContinuation
	case o.a.options.SubAgent:
		return live.TriggerSubAgent
	default:
		return live.TriggerUser
	}
}
