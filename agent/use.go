package agent

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// NotRunError says why a call of a person did not run. The conversation has nothing of the call.
type NotRunError struct {
	Outcome session.Outcome
	Reason  string
	Refusal string // the code of the verdict or of the tool that refused it; may be empty
}

func (e *NotRunError) Error() string { return e.Reason }

// Code returns the code of the verdict that denied the call, such as "permission.outside_read", or "agent.not_run".
func (e *NotRunError) Code() string {
	if e.Refusal != "" {
		return e.Refusal
	}
	return "agent.not_run"
}

// Use runs a call of a person between runs: with the hooks, the gate, the limits and the progress of a call of the model. An empty ID of c
// gets one. The result enters the conversation as a message of the tool, see [view.Ran], and Use returns its entry. It starts no run. If ctx
// ends, or by [Agent.Abort], the call is cancelled.
//
// While a run or another call of a person is on, the error is [ErrBusy]. If the call does not run, it is a [*NotRunError].
func (a *Agent) Use(ctx context.Context, c llm.ToolCall) (session.Event, error) {
	if c.ID == "" {
		c.ID = string(session.NewID())
	}
	if err := a.changes.settle(ctx); err != nil {
		return session.Event{}, err
	}
	r, err := enter(ctx, a, Input{Messages: []llm.Message{llm.UserText(c.Name)}}) // it enters the conversation as input does
	if err != nil {
		return session.Event{}, err
	}
	defer a.slot.leave(r)
	a.feed.stampAs(session.Stamp{}) // it is no run
	r.id = ""
	j := &job{call: c, written: c.Name, own: true}
	if err := r.calls.admitOwn(j); err != nil {
		return session.Event{}, err
	}
	if err := r.calls.schedule([]*job{j}); err != nil {
		return session.Event{}, err
	}
	if !j.entry.Durable() {
		return session.Event{}, notRun(j)
	}
	return j.entry, nil
}

// admitOwn prepares a call of a person, asks the gate about it, and journals the decisions, and what must precede the call. The error is a
// [*NotRunError] if it must not run.
func (r *caller) admitOwn(j *job) error {
	if err := r.measure([]*job{j}); err != nil {
		return err
	}
	if j.result != nil {
		return &NotRunError{Outcome: j.result.Outcome, Reason: "the context window has no space for the output; summarize the conversation first"}
	}
	if err := r.prepare(j, j.call.Arguments); err != nil {
		return &NotRunError{Outcome: session.OutcomeInvalid, Reason: err.Error(), Refusal: codeOf(err)}
	}
	decisions, err := r.decide([]*job{j})
	if r.ctx.Err() != nil {
		return &NotRunError{Outcome: session.OutcomeCancelled, Reason: "the call was cancelled before it ran"}
	}
	if err != nil {
		return err
	}
	if j.result != nil {
		if _, err := r.append(decisions...); err != nil {
			return err
		}
		refused := notRun(j)
		for _, b := range decisions {
			if d, ok := b.(session.Decision); ok && d.Verdict == "deny" {
				refused.Reason, refused.Refusal = firstOf(d.Reason, refused.Reason), d.Code
			}
		}
		return refused
	}
	head, err := r.head(r.ctx)
	if err != nil {
		return err
	}
	_, err = r.append(append(head, decisions...)...)
	return err
}

func notRun(j *job) *NotRunError {
	if j.result == nil {
		return &NotRunError{Outcome: session.OutcomeNotStarted, Reason: "the call did not start"}
	}
	return &NotRunError{Outcome: j.result.Outcome, Reason: j.result.Text()}
}

// framed is the result of a job as the conversation has it.
func (j *job) framed(m session.Message) session.Message {
	if !j.own {
		return m
	}
	c := j.call
	c.Arguments = string(j.ready.Arguments)
	return view.Ran(c, m)
}
