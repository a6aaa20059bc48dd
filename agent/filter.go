package agent

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Filter screens a message before it enters the conversation: input, steering and follow-ups. While it looks at a queued
// one the queue is locked: it should be quick, and must not call the agent.
type Filter func(ctx context.Context, m llm.Message) Screening

// Screening is what a [Filter] says. The zero value lets the message pass.
type Screening struct {
	Reject string // the reason to turn the message away; the model is not asked
	Warn   string // a warning that is added to the message, for the model
}

// screen runs the filters over a message. It returns the message as it may enter, or the reason why it may not.
func screen(ctx context.Context, filters []Filter, m llm.Message) (passed llm.Message, reject string) {
	for _, f := range filters {
		s := f(ctx, m)
		if s.Reject != "" {
			return m, s.Reject
		}
		if s.Warn != "" {
			content := append(llm.Content(nil), m.Content...)
			m.Content = append(content, llm.Text{Text: "\n\n[Warning: " + s.Warn + "]"})
		}
	}
	return m, ""
}

// entry makes the journal's form of a message that comes in: as it passed the filters, or as it was rejected.
func (a *Agent) entry(ctx context.Context, m llm.Message, source session.Source, draft session.ID) (body session.Body, rejected string) {
	m.Role = llm.RoleUser
	m = m.Valid()
	passed, reject := screen(ctx, a.options.Filters, m)
	if reject != "" {
		return session.Rejected{Message: m, Draft: draft, Reason: reject}, reject
	}
	return session.Message{Message: passed, Source: source, Draft: draft}, ""
}
