package agent

import (
	"context"
	"errors"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// run is one run of the loop. All its methods are called on the goroutine that iterates over it.
type run struct {
	a        *Agent
	id       session.RunID
	previous session.RunID // the run before it, if there is one
	input    []llm.Message
	how      Continuation
	ctx      context.Context // ends when the run is cancelled
	cancel   context.CancelCauseFunc
	yield    func(session.Event, error) bool
	left     bool            // the consumer left: nothing is yielded any more
	spare    []session.Event // memory for the feed
	started  time.Time
	begun    bool // its start is in the journal

	turn       int
	room       window.Room // for the results of the calls that are on
	usage      llm.Usage
	recoveries int  // answers in a row that the output limit cut
	unusable   int  // turns in a row whose calls could not be used
	denials    int  // calls in a row that were denied
	concluding bool // denied too often: the last answer must do without tools
	steered    bool // the next turn has its steering message already
	told       bool // the hook has seen the error that ends the run
}

// The patience of the loop with a model that gets nowhere.
const (
	maxRecoveries = 3
	maxUnusable   = 3
	maxDenials    = 3
)

// run is the whole life of a run: it starts, takes turns, and ends. What cannot start at all is an error and leaves no
// trace; for the rest there is exactly one session.RunStarted and one session.RunEnded.
func (r *run) run() {
	head, err := r.head()
	if err != nil {
		r.yield(session.Event{}, err)
		return
	}
	defer r.abandon()
	end, err := r.start(head)
	if end == nil {
		stop := r.limitTime()
		end, err = r.turns()
		stop()
	}
	r.end(*end, err)
}

// start makes the run durable, with its input. It returns an end when the run is over before its first turn.
func (r *run) start(head []session.Body) (*session.RunEnded, error) {
	start := r.description()
	refused := ""
	if before := r.a.options.Hooks.BeforeRun; before != nil {
		if veto := before(r.ctx, start); veto != nil {
			refused, head = veto.Error(), nil // the branch stays where it is
		}
	}
	entries := append(head, start)
	for _, m := range r.input {
		entry, reason := r.a.entry(r.ctx, m, session.FromInput, "")
		if refused != "" {
			entry = session.Rejected{Message: m.Valid(), Reason: refused}
		}
		entries = append(entries, entry)
		refused = firstOf(refused, reason)
	}
	_, err := r.a.feed.append(r.ctx, entries...)
	r.begun = err == nil // also when the consumer panics at what it is handed now
	r.drain()
	if err != nil {
		return r.failure(err), err
	}
	if refused != "" {
		return ended(session.ReasonRefused, refused), nil
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
		r.endTurn(answer, err)
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
	if err := r.steer(); err != nil {
		return llm.Message{}, err
	}
	answer, err := r.answer()
	if err != nil {
		return llm.Message{}, err
	}
	return answer, r.runCalls(answer)
}

// mayGoOn returns an end when there must be no further turn: the run was cancelled, a limit is reached, or a hook vetoes.
// The limits come first: hooks are not asked about a turn that cannot be.
func (r *run) mayGoOn() (*session.RunEnded, error) {
	if r.ctx.Err() != nil {
		return r.cancelled(), nil
	}
	end, err := r.a.options.Limits.reached(r.ctx, r.a.store, r.a.Session(), r.turn, r.usage)
	switch {
	case err != nil:
		return r.failure(err), err
	case end != nil:
		return end, nil
	}
	if before := r.a.options.Hooks.BeforeTurn; before != nil {
		if veto := before(r.ctx, r.turn+1); veto != nil {
			return ended(session.ReasonRefused, veto.Error()), nil
		}
	}
	return nil, nil
}

func (r *run) beginTurn() {
	r.turn++
	r.a.feed.turn(r.turn)
	r.moment(session.TurnStarted{Trigger: r.trigger()})
}

// endTurn ends a turn with the answer that it had, or the error that ends the run.
func (r *run) endTurn(answer llm.Message, err error) {
	if err != nil {
		r.tell(r.failure(err), err)
	}
	t := session.TurnEnded{Usage: answer.Usage, Calls: len(answer.Calls())}
	r.moment(t)
	if after := r.a.options.Hooks.AfterTurn; after != nil {
		after(r.ctx, r.turn, t)
	}
	r.a.feed.turn(0)
}

// next decides what follows a turn: another one, or the end of the run.
func (r *run) next(answer llm.Message) (again bool, _ *session.RunEnded, _ error) {
	if answer.Stop != llm.StopLength {
		r.recoveries = 0
	}
	switch {
	case r.concluding:
		return false, ended(session.ReasonDenied, "stopped because call after call was denied"), nil
	case r.unusable >= maxUnusable:
		end := ended(session.ReasonError, "stopped because the model wrote tool calls that cannot be used, turn after turn")
		return false, end, &llm.Error{Kind: llm.KindProtocol, Model: answer.Model, Message: end.Message}
	case r.denials >= maxDenials:
		r.concluding = true // one more answer, in which the model says how far it came
		return true, nil, nil
	case len(answer.Calls()) > 0:
		return true, nil, nil
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
	default:
		return r.admit(session.FromFollowUp)
	}
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
		return false, ended(session.ReasonLength, "the answer was cut at the output limit again and again; it is not complete"), nil
	}
	m := llm.UserText("Your answer was cut at the output limit. Go on exactly where it stopped, without repeating anything.")
	if _, err := r.append(session.Message{Message: m, Source: session.FromLoop}); err != nil {
		return false, r.failure(err), err
	}
	return true, nil, nil
}

// end makes the end of the run durable and tells it.
func (r *run) end(end session.RunEnded, err error) {
	end.Turns, end.Usage = r.turn, r.usage
	end.Elapsed = session.Duration(time.Since(r.started))
	if e, ok := errors.AsType[*llm.Error](err); ok && end.Reason == session.ReasonError {
		end.Error = e
	}
	r.tell(&end, err)
	r.a.feed.turn(0)
	if _, failed := r.append(end); failed != nil {
		err = failed
		end.Reason, end.Message = session.ReasonError, failed.Error()
		r.tell(&end, err)
		r.moment(end) // it is not in the journal, but the consumer is told
	}
	if after := r.a.options.Hooks.AfterRun; after != nil {
		after(context.WithoutCancel(r.ctx), end)
	}
	if err != nil && end.Reason == session.ReasonError && !r.left {
		r.left = !r.yield(session.Event{}, err)
	}
}
