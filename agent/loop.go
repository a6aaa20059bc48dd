package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// run is one run of the loop. All its methods are called on its own goroutine.
type run struct {
	a      *Agent
	id     session.RunID
	setup  *setup          // of this turn
	ctx    context.Context // ends when the run is cancelled
	cancel context.CancelCauseFunc
	origin
	meter
	calls *caller
	early *early

	begun       bool          // its start is in the journal
	started     chan struct{} // closed when its start is in the journal, or it cannot be
	markStarted func()        // closes it
	ended       atomic.Bool   // its end is in the journal, or about to be
	over        chan struct{} // closed when the agent is free again
	refused     error         // why it did not start; good once started is closed
	failed      error         // what ended the run, if its end says error; good once over is closed

	turn       int
	recoveries int  // answers in a row that the output limit cut
	again      int  // times that hooks continued the run
	concluding bool // denied too often: the last answer must do without tools
	steered    bool // the next turn has its steering message already
}

func newRun(ctx context.Context, a *Agent, in Input, previous session.RunID) *run {
	r := &run{
		a: a, setup: a.setup.Load(), id: session.NewID(), started: make(chan struct{}), over: make(chan struct{}),
		origin: origin{a: a, in: in, previous: previous},
		meter:  meter{a: a, begunAt: time.Now(), budget: a.spending.session.Child("run", budget.Limits{})},
	}
	r.markStarted = sync.OnceFunc(func() { close(r.started) })
	r.calls = &caller{run: r, repeats: newRepeats()}
	r.early = &early{caller: r.calls}
	r.ctx, r.cancel = context.WithCancelCause(r.budget.With(ctx))
	return r
}

// The patience of the loop with a model that gets nowhere.
const (
	maxRecoveries = 3
	maxUnusable   = 3
	maxDenials    = 3
)

// live is the whole life of a run: it starts, takes turns, and ends. There is exactly one session.RunStarted and one session.RunEnded.
func (r *run) live(head []session.Body) {
	whole := false
	defer func() {
		if !whole {
			r.abandon(recover())
		}
		r.early.end()
		r.a.slot.leave(r)
		r.markStarted()
		close(r.over)
	}()
	end, err := r.start(head)
	r.refused = err
	r.markStarted()
	if end == nil {
		end, err = r.turns()
		r.limitTime(Unlimited, r.cancel)
	}
	r.end(*end, err)
	whole = true
}

// start makes the run durable, with its input. It returns an end when the run is over before its first turn.
func (r *run) start(head []session.Body) (*session.RunEnded, error) {
	start := r.description()
	refused := r.a.hooks.beforeRun(r.ctx, start)
	if refused != nil {
		head = nil // the branch stays where it is
	}
	entries, speaker := append(head, start), r.in.Speaker
	if speaker.Kind == "" {
		speaker = r.a.options.person()
	}
	if r.in.Draft != "" {
		entries = append(entries, session.Queued{Draft: r.in.Draft, Change: "taken"})
	}
	for _, m := range r.in.Messages {
		if refused != nil {
			entries = append(entries, session.Rejected{Message: m.Valid(), Draft: r.in.Draft, Reason: refused.Error(), By: refused.by})
			continue
		}
		var came []session.Body
		came, refused = r.a.hooks.prompt(r.ctx, incoming(session.Message{Message: m, Speaker: speaker, Draft: r.in.Draft}))
		entries = append(entries, came...)
	}
	_, err := r.a.feed.append(r.ctx, entries...)
	r.begun = err == nil
	if err != nil {
		return r.failure(err), err
	}
	if refused != nil {
		return refused.end(), nil
	}
	return nil, nil
}

// turns is the loop: a request, an answer, its calls, and again, until there is nothing more to do.
func (r *run) turns() (*session.RunEnded, error) {
	for {
		if end, err := r.mayGoOn(); end != nil {
			return end, err
		}
		r.beginTurn()
		answer, err := r.exchange()
		r.endTurn(answer)
		if err != nil {
			return r.failure(err), err
		}
		again, end, err := r.next(answer)
		if !again {
			return end, err
		}
	}
}

// exchange is what a turn is about: messages that wait enter, the model answers, and its calls are run.
func (r *run) exchange() (llm.Message, error) {
	if open := r.open; len(open) > 0 { // they waited for a question when the process died
		r.open, r.resumed.Usage = nil, llm.Usage{}
		return r.resumed, r.calls.runCalls(open, r.resumed.Stop)
	}
	if err := r.steer(); err != nil {
		return llm.Message{}, err
	}
	defer r.early.discard()
	answer, err := r.answer()
	if err != nil {
		return llm.Message{}, err
	}
	return answer, r.calls.runCalls(answer.Calls(), answer.Stop)
}

// mayGoOn returns an end when there must be no further turn: the run was cancelled, a limit is reached, or a hook vetoes.
// The limits come first: hooks are not asked about a turn that cannot be.
func (r *run) mayGoOn() (*session.RunEnded, error) {
	if r.ctx.Err() != nil {
		return r.cancelled(), nil
	}
	r.setup = r.a.setup.Load()
	r.limitTime(r.setup.limits.Time, r.cancel)
	end, err := r.reached(r.ctx)
	switch {
	case err != nil:
		return r.failure(err), err
	case end != nil:
		return end, nil
	}
	if end, err := askLimits(r); end != nil || err != nil {
		return end, err
	}
	if refused := r.a.hooks.beforeTurn(r.ctx, r.turn+1); refused != nil {
		return refused.end(), nil
	}
	return r.limitOf(r.budget.Turn()), nil
}

func (r *run) beginTurn() {
	r.turn++
	r.a.feed.turn(r.turn)
	r.moment(live.TurnStarted{Trigger: r.trigger(r.turn)})
}

// endTurn ends a turn with the answer that it had.
func (r *run) endTurn(answer llm.Message) {
	t := live.TurnEnded{Usage: answer.Usage, Calls: len(answer.Calls())}
	r.moment(t)
	r.a.hooks.afterTurn(r.ctx, r.turn, t)
	r.a.feed.turn(0)
}

// next decides what follows a turn: another one, or the end of the run.
func (r *run) next(answer llm.Message) (again bool, _ *session.RunEnded, _ error) {
	if answer.Stop != llm.StopLength {
		r.recoveries = 0
	}
	switch {
	case r.concluding:
		return false, ended(session.ReasonDenied, "stopped because every call in a row was denied"), nil
	case r.calls.unusable >= maxUnusable:
		end := ended(session.ReasonError, "stopped because the model wrote unusable tool calls, turn after turn")
		return false, end, &llm.Error{Kind: llm.KindProtocol, Model: answer.Model, Message: end.Message}
	case r.calls.denials >= maxDenials:
		r.concluding = true // one more answer, in which the model says how far it came
		return true, nil, nil
	case len(answer.Calls()) > 0:
		return r.calls.repeated()
	}
	if again, end, err := r.admit(session.FromSteering); again || err != nil {
		r.steered = again
		return again, end, err
	}
	switch answer.Stop {
	case llm.StopLength:
		return r.recoverLength()
	case llm.StopRefused:
		return false, ended(session.ReasonRefused, "the model declined to answer"), nil
	}
	if again, end, err := r.admit(session.FromFollowUp); again || err != nil {
		return again, end, err
	}
	return r.keepOn(answer)
}

// hint adds a message of the loop to the conversation.
func (r *run) hint(text string) error {
	_, err := r.append(session.Message{
		Message: llm.UserText(text), Source: session.FromLoop, Speaker: session.Speaker{Kind: session.SpeakerTenon},
	})
	return err
}

// keepOn asks the hooks before a run ends as done.
func (r *run) keepOn(answer llm.Message) (again bool, _ *session.RunEnded, _ error) {
	done := ended(session.ReasonDone, "")
	messages, asked, endless := r.a.hooks.beforeEnd(r.ctx, answer)
	switch {
	case !asked:
		return false, done, nil
	case len(messages) == 0: // drafts may have come meanwhile
		for _, lane := range []session.Source{session.FromSteering, session.FromFollowUp} {
			if again, end, err := r.admit(lane); again || err != nil {
				r.steered = again && lane == session.FromSteering
				return again, end, err
			}
		}
		return false, done, nil
	case !endless && r.again == maxAgain:
		end := ended(session.ReasonLimit, fmt.Sprintf("stopped because hooks continued the run %d times", maxAgain))
		end.Limit = "hooks"
		return false, end, nil
	}
	if !endless {
		r.again++
	}
	if _, err := r.append(messages...); err != nil {
		return false, r.failure(err), err
	}
	return true, nil, nil
}

// admit lets drafts in after an answer without calls. When filters turn all of them away, there is nothing to answer.
func (r *run) admit(lane session.Source) (again bool, _ *session.RunEnded, _ error) {
	entered, err := r.enter(lane)
	if err != nil {
		return false, r.failure(err), err
	}
	return entered > 0, ended(session.ReasonDone, ""), nil
}

// recoverLength lets an answer go on that was cut at the output limit, a few times.
func (r *run) recoverLength() (again bool, _ *session.RunEnded, _ error) {
	r.recoveries++
	if r.recoveries > maxRecoveries {
		return false, ended(session.ReasonLength, "the answer reached the output limit again and again and is not complete"), nil
	}
	if err := r.hint("Your answer was cut at the output limit. Continue exactly where it stopped. Do not repeat anything."); err != nil {
		return false, r.failure(err), err
	}
	return true, nil, nil
}

// end makes the end of the run durable and publishes it.
func (r *run) end(end session.RunEnded, err error) {
	end.Turns, end.Usage = r.turn, r.usage
	end.Elapsed = session.Duration(time.Since(r.begunAt))
	if e, ok := errors.AsType[*llm.Error](err); ok && end.Reason == session.ReasonError {
		end.Error = e
	}
	r.a.feed.turn(0)
	r.ended.Store(true)
	if _, failed := r.append(end); failed != nil {
		err = failed
		end.Reason, end.Message = session.ReasonError, failed.Error()
		r.moment(end) // it is not in the journal, but listeners see it
	}
	if err != nil && end.Reason == session.ReasonError {
		r.failed = err
	}
	r.a.hooks.afterRun(context.WithoutCancel(r.ctx), end)
}
