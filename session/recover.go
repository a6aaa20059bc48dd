package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Recover says what must be appended to a path before it can go on, when the process that wrote it died: for every call
// without a result one that says what is known, in the order of the calls, and the end of the run. It is nil for a path
// that was left properly. Nothing is run again: that is for the model or the person to decide.
//
//   - A call that had not begun gets [OutcomeNotStarted].
//   - A call that had begun and only looks gets [OutcomeInterrupted].
//   - Any other gets [OutcomeUnknown]: it may have happened, in part or whole.
//
// A partial answer stays as it is: the next answer makes it void, and new input settles it (see [Settle]).
func Recover(ctx context.Context, p Path) ([]Body, error) {
	var (
		answered = make(map[string]bool)
		started  = make(map[string]CallStarted)
		results  []Body
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
		case RunEnded, Created:
			return nil, nil
		case Head:
			if e.Run == "" { // a step back between runs: what stands before it had its end elsewhere
				return nil, nil
			}
		case RunStarted:
			end := RunEnded{
				Reason: ReasonInterrupted, Message: lostRun,
				Turns: turns, Usage: usage, Elapsed: Duration(newest.Sub(e.Time)),
			}
			return append(results, end), nil
		case Requested: // it knows what the run was before it
			if e.Run != "" {
				return append(results, RunEnded{
					Reason: ReasonInterrupted, Message: lostRun,
					Turns: e.Turn - 1 + turns, Usage: usage.Plus(b.Used), Elapsed: b.Elapsed + Duration(newest.Sub(e.Time)),
				}), nil
			}
		case Digest:
			usage = usage.Plus(b.Usage)
		case CallStarted:
			started[b.Call] = b
		case Message:
			switch {
			case b.Role == llm.RoleTool:
				answered[b.CallID] = true
			case b.Role == llm.RoleAssistant:
				if turns == 0 { // the older answers of the run have all their results
					results = missing(b.Calls(), answered, started)
				}
				turns++
				usage = usage.Plus(b.Usage)
			}
		}
	}
	return nil, nil
}

const lostRun = "the process ended while this run was on"

// missing makes the results of calls that have none.
func missing(calls []llm.ToolCall, answered map[string]bool, started map[string]CallStarted) []Body {
	var bodies []Body
	for _, c := range calls {
		if answered[c.ID] {
			continue
		}
		begun, ok := started[c.ID]
		switch {
		case !ok:
			bodies = append(bodies, Result(c, OutcomeNotStarted,
				"This call was not started: the process ended before. Nothing of it happened; it can be called again."))
		case begun.Again:
			bodies = append(bodies, Result(c, OutcomeInterrupted,
				"This call was interrupted: the process ended while it ran. It does no harm to call it again."))
		default:
			bodies = append(bodies, Result(c, OutcomeUnknown,
				"The outcome of this call is unknown: the process ended while it ran. It may have happened in part or whole. "+
					"Look at what is there before you call it again."))
		}
	}
	return bodies
}

// Result makes the result of a call that did not run to its end, with a text for the model.
func Result(c llm.ToolCall, outcome Outcome, text string) Message {
	return Message{Message: llm.ToolText(c, text, true), Outcome: outcome}
}

// Settle says what must be appended before new input can follow an answer that was cut off: the answer as far as it came,
// so that the model knows what the person saw. It is nil when there is none. Thinking is left out: without its end no
// provider takes it back.
func Settle(ctx context.Context, p Path) ([]Body, error) {
	var open []Event
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case Partial:
			if len(open) > 0 && !sameAnswer(open[0], e) {
				break // an older attempt, which this one replaced
			}
			open = append(open, e)
			continue
		case Message, Discarded:
		case Created:
			if b.Fork {
				continue // what was cut off may be inherited
			}
		default:
			continue // such as the end of its run, and another model since then
		}
		break
	}
	slices.Reverse(open)
	cut, ok := joinPartials(open)
	if !ok {
		return nil, nil
	}
	m := cut.Body.(Message)
	m.Content = slices.DeleteFunc(m.Content, func(p llm.Part) bool {
		_, thinking := p.(llm.Thinking)
		return thinking
	})
	if m.Empty() {
		return []Body{Discarded{}}, nil
	}
	return []Body{m}, nil
}

// ErrAnswered says that a conversation ends with an answer: there is nothing to go on with.
var ErrAnswered = errors.New("the last message is an answer; give new input, or name an earlier entry to go on from")

// ErrNoMessage says that nothing was said yet.
var ErrNoMessage = errors.New("there is no message to go on from")

// Continuable returns an error when a run cannot go on from the end of a path: after an answer there is nothing to say without new
// input ([ErrAnswered]), and before the first message ([ErrNoMessage]). It reads back to the last message.
func Continuable(ctx context.Context, p Path) error {
	cut, void := false, false // an answer that was cut off stands at the end; what was cut off begins anew
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case Partial:
			cut = cut || !void
		case Discarded:
			void = true
		case Message:
			if b.Role == llm.RoleAssistant && b.Stop != llm.StopAborted && !cut {
				return fmt.Errorf("session: %w", ErrAnswered)
			}
			return nil
		}
	}
	return fmt.Errorf("session: %w", ErrNoMessage)
}
