package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Recover returns the bodies to append to a path if the process that wrote it died: a result for each call without one, in the order of
// the calls, and the end of the run. If the run of the path ended, it returns a message for each call of a person that has none (see
// [Ran]), and nil if there is no such call. It repeats no call: the model or the person decides that.
//
//   - A call that had not begun gets [session.OutcomeNotStarted].
//   - A call that had begun and may run again gets [session.OutcomeInterrupted].
//   - Any other call gets [session.OutcomeUnknown]: it may have happened, in part or completely.
//
// If waits reports that a call waits for an open question (nil: none does), the calls of its answer that have not begun, and those that
// wait and may run again, get no result yet: the next run that continues runs them (see [OpenCalls]), and new input settles them.
//
// A partial answer stays: the next answer voids it, and new input settles it (see [Settle]).
func Recover(ctx context.Context, p Path, waits func(call string) bool) ([]session.Body, error) {
	var (
		answered = make(map[string]bool)
		started  = make(map[string]session.CallStarted)
		own      []session.CallStarted // calls of people
		results  []session.Body
		turns    = 0
		usage    llm.Usage
		newest   time.Time
	)
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if newest.IsZero() {
			newest = e.Time
		}
		switch b := e.Body.(type) {
		case session.RunEnded, session.Created:
			return unframed(own, answered), nil
		case session.Head:
			if e.Run == "" { // a rewind between runs: an earlier run has ended
				return unframed(own, answered), nil
			}
		case session.RunStarted:
			if turns == 0 { // it may have continued the calls of an earlier answer
				_, open, err := OpenCalls(ctx, p)
				if err != nil {
					return nil, err
				}
				results = missing(open, answered, started, waits)
			}
			end := session.RunEnded{
				Reason: session.ReasonInterrupted, Message: lostRun,
				Turns: turns, Usage: usage, Elapsed: session.Duration(newest.Sub(e.Time)),
			}
			return append(results, end), nil
		case session.Requested: // it has the usage of the run before it
			if e.Run != "" {
				return append(results, session.RunEnded{
					Reason: session.ReasonInterrupted, Message: lostRun,
					Turns: e.Turn - 1 + turns, Usage: usage.Plus(b.Used), Elapsed: b.Elapsed + session.Duration(newest.Sub(e.Time)),
				}), nil
			}
		case session.Summarized:
			usage = usage.Plus(b.Usage)
		case session.CallStarted:
			if started[b.Call] = b; e.Run == "" {
				own = append(own, b)
			}
		case session.Message:
			switch {
			case b.Role == llm.RoleTool || b.CallID != "":
				answered[b.CallID] = true
			case Foreign(e):
				return unframed(own, answered), nil
			case b.Role == llm.RoleAssistant:
				if turns == 0 { // the older answers of the run have all their results
					results = missing(b.Calls(), answered, started, waits)
				}
				turns++
				usage = usage.Plus(b.Usage)
			}
		}
	}
	return nil, nil
}

// Foreign reports whether an entry is an answer in an imported session of another program. Such sessions have no runs that could be open.
func Foreign(e session.Event) bool {
	m, ok := e.Body.(session.Message)
	return ok && e.Imported && e.Run == "" && m.Role == llm.RoleAssistant
}

const lostRun = "the process ended while this run was on"

// missing makes the results of calls that have none, except for calls that wait.
func missing(calls []llm.ToolCall, answered map[string]bool, started map[string]session.CallStarted, waits func(string) bool) []session.Body {
	waiting := waits != nil && slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return !answered[c.ID] && waits(c.ID) })
	var bodies []session.Body
	for _, c := range calls {
		begun, ok := started[c.ID]
		if ok {
			c.Name = begun.Tool
		}
		switch {
		case answered[c.ID], waiting && !ok, waiting && begun.Again && waits(c.ID):
		case !ok:
			bodies = append(bodies, Result(c, session.OutcomeNotStarted,
				"This call was not started: the process ended before. Nothing of it happened; it can be called again."))
		case begun.Again:
			bodies = append(bodies, Result(c, session.OutcomeInterrupted,
				"This call was interrupted: the process ended while it ran. It does no harm to call it again."))
		default:
			bodies = append(bodies, Result(c, session.OutcomeUnknown,
				"The outcome of this call is unknown: the process ended while it ran. It may have happened in part or whole. "+
					"Look at what is there before you call it again."))
		}
	}
	return bodies
}

// OpenCalls returns the newest answer of a path, and its calls that have no result because they wait for a question. It returns none if
// another message follows the answer.
func OpenCalls(ctx context.Context, p Path) (answer session.Event, open []llm.ToolCall, _ error) {
	answered := make(map[string]bool)
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return answer, nil, err
		}
		switch b := e.Body.(type) {
		case session.Partial, session.Discarded:
			return answer, nil, nil
		case session.Message:
			switch b.Role {
			case llm.RoleTool:
				answered[b.CallID] = true
				continue
			case llm.RoleAssistant:
				for _, c := range b.Calls() {
					if !answered[c.ID] {
						open = append(open, c)
					}
				}
				if b.Stop == llm.StopAborted {
					open = nil // they were never complete
				}
				return e, open, nil
			}
			return answer, nil, nil
		}
	}
	return answer, nil, nil
}

// Result makes the result of a call that failed or did not finish, with a text for the model.
func Result(c llm.ToolCall, outcome session.Outcome, text string) session.Message {
	return session.Message{Message: llm.ToolText(c, text, true), Outcome: outcome}
}

// Settle returns the bodies to append before new input can follow an unfinished answer: the answer up to its last piece, so that the model
// sees the same text as the person. It returns nil if there is none. It omits thinking, because no provider accepts it without its end.
// Calls that wait for a question get results, because the new input came first.
func Settle(ctx context.Context, p Path) ([]session.Body, error) {
	_, calls, err := OpenCalls(ctx, p)
	if err != nil || len(calls) > 0 {
		var results []session.Body
		for _, c := range calls {
			results = append(results, Result(c, session.OutcomeSkipped, "This call was not run: a new message came before it was allowed."))
		}
		return results, err
	}
	cut, ok, err := Unfinished(ctx, p)
	if err != nil || !ok {
		return nil, err
	}
	m := cut.Body.(session.Message)
	m.Content = slices.DeleteFunc(m.Content, func(p llm.Part) bool {
		_, thinking := p.(llm.Thinking)
		return thinking
	})
	if m.Empty() {
		return []session.Body{session.Discarded{}}, nil
	}
	return []session.Body{m}, nil
}

// Unfinished returns the unfinished answer at the end of a path as a message with [llm.StopAborted] and the ID of its last [session.Partial].
// It reports false if there is none.
func Unfinished(ctx context.Context, p Path) (answer session.Event, ok bool, _ error) {
	var open []session.Event
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return answer, false, err
		}
		switch b := e.Body.(type) {
		case session.Partial:
			if len(open) > 0 && !sameAnswer(open[0], e) {
				break // an older attempt, which this one replaced
			}
			open = append(open, e)
			continue
		case session.Message, session.Discarded:
		case session.Created:
			if b.Fork {
				continue // the unfinished answer may be inherited
			}
		default:
			continue // such as the end of its run, or a change of the model
		}
		break
	}
	slices.Reverse(open)
	answer, ok = joinPartials(open)
	return answer, ok, nil
}

// The errors of [Continuable].
var (
	// ErrAnswered: the conversation ends with an answer.
	ErrAnswered = errors.New("the last message is an answer; give new input, or name an earlier entry to go on from")
	// ErrNoMessage: the conversation has no message.
	ErrNoMessage = errors.New("there is no message to go on from")
)

// Continuable returns an error if a run without new input cannot continue a path: [ErrAnswered] after an answer, unless some of its calls
// have no result ([OpenCalls]), and [ErrNoMessage] before the first message. It reads back to the last message.
func Continuable(ctx context.Context, p Path) error {
	cut, void := false, false // the path ends with an unfinished answer; a discard voids it
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case session.Partial:
			cut = cut || !void
		case session.Discarded:
			void = true
		case session.Message:
			if b.Role == llm.RoleAssistant && b.Stop != llm.StopAborted && !cut && len(b.Calls()) == 0 {
				return fmt.Errorf("session: %w", ErrAnswered)
			}
			return nil
		}
	}
	return fmt.Errorf("session: %w", ErrNoMessage)
}
