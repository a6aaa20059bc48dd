package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
)

// Ask journals a question and waits for the first answers: by [Agent.Request] or, from another process, [request.Send]
// with a [session.Answered]. At q.Until the error is [ErrUnanswered]; when ctx ends, its cause. A question that is over has an
// [session.Asked].
//
// If the same question is still open, because its process died, Ask takes it over with the answer that it may have by now.
func (a *Agent) Ask(ctx context.Context, q session.Asking) ([]ask.Answer, error) {
	if !q.Until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, q.Until, ErrUnanswered)
		defer cancel()
	}
	id, err := a.feed.ask(ctx, q)
	defer a.feed.asks(id, -1)
	if err != nil {
		return nil, err
	}
	for {
		requests, changed := a.feed.now()
		switch open, ok := requests.Question(id); {
		case !ok:
			return nil, &request.LateError{What: "question", ID: id}
		case open.Answer != nil:
			_, err := a.feed.append(ctx, session.Asked{ID: id, Reason: "answered"})
			return open.Answer.Answers, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			cause := context.Cause(ctx)
			reason := "withdrawn"
			if errors.Is(cause, ErrUnanswered) {
				reason = "timeout"
			}
			_, err := a.feed.append(ctx, session.Asked{ID: id, Reason: reason})
			return nil, errors.Join(cause, err)
		}
	}
}

// ask makes a question durable, or finds the same one of a process that died. It returns its ID, of a question for which a caller waits now.
func (f *feed) ask(ctx context.Context, q session.Asking) (string, error) {
	requests, _ := f.now()
	var entries []session.Body
	for _, o := range requests.Questions {
		switch {
		case !overlap(o.Asking, q):
		case sameQuestion(o.Asking, q):
			f.asks(o.ID, 1)
			return o.ID, nil
		default: // it is about something else by now
			entries = append(entries, session.Asked{ID: o.ID, Reason: "withdrawn"})
		}
	}
	q.ID = string(session.NewID())
	f.asks(q.ID, 1) // before a run that begins can see it
	_, err := f.append(ctx, append(entries, q)...)
	return q.ID, err
}

// asks notes that so many more callers wait for the answer to a question.
func (f *feed) asks(id string, more int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asking[id] += more; f.asking[id] == 0 {
		delete(f.asking, id)
	}
}

// unasked returns the questions for whose answers no one waits, and that are about none of these calls: their agents are no more.
func (f *feed) unasked(open []llm.ToolCall) (ends []session.Body) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.requests.Questions {
		about := request.State{Questions: []request.Question{q}}
		if f.asking[q.ID] == 0 && !slices.ContainsFunc(open, func(c llm.ToolCall) bool { return about.Waits(c.ID) }) {
			ends = append(ends, session.Asked{ID: q.ID, Reason: "withdrawn"})
		}
	}
	return ends
}

// overlap reports whether two questions are about a common call.
func overlap(a, b session.Asking) bool {
	return a.Call != "" && a.Call == b.Call || slices.ContainsFunc(a.Calls, func(p ask.Call) bool {
		return slices.ContainsFunc(b.Calls, func(q ask.Call) bool { return p.Call == q.Call })
	})
}

// sameQuestion reports whether an answer to one question answers the other: a person saw the same, but for previews.
func sameQuestion(a, b session.Asking) bool {
	bare := func(q session.Asking) []byte {
		q = session.Asking{Call: q.Call, Calls: slices.Clone(q.Calls), Questions: q.Questions}
		for i := range q.Calls {
			q.Calls[i].Preview = ""
		}
		data, _ := json.Marshal(q)
		return data
	}
	return bytes.Equal(bare(a), bare(b))
}
