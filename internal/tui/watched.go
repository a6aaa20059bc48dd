package tui

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	files "github.com/tenon-agent/tenon/undo"
)

// watched is the session of an agent that this terminal does not run: it reads the journal, and its requests are entries.
type watched struct {
	host   Host
	id     session.SessionID
	redact func(string) string // nil: hides nothing
}

func (w *watched) State(ctx context.Context) (s conversation.State, err error) {
	err = w.host.Store(func(store index.Store) error {
		for sum, err := range store.List(ctx, index.Query{Prefix: string(w.id), Limit: 1}) {
			if err != nil {
				return err
			}
			s = conversation.State{Session: w.id, Seq: sum.Entries, Dir: sum.Dir, Title: sum.Title, Usage: sum.Usage}
			s.Model.Provider, s.Model.ID, _ = strings.Cut(sum.Model, "/")
		}
		open, err := request.Read(ctx, store, w.id)
		if err != nil {
			return err
		}
		s.Run, s.Drafts, s.Asking = open.Run, open.Drafts, open.Questions
		return nil
	})
	return s, err
}

func (w *watched) Follow(ctx context.Context, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		err := w.host.Store(func(s index.Store) error {
			for e, err := range s.Watch(ctx, w.id, after) {
				if err != nil {
					return err
				}
				if !yield(e, nil) {
					break
				}
			}
			return nil
		})
		if err != nil {
			yield(session.Event{}, err)
		}
	}
}

func (w *watched) send(ctx context.Context, b session.Body) error {
	return w.host.Store(func(s index.Store) error {
		_, err := request.Send(ctx, s, w.id, b)
		return err
	})
}

// clean hides the secrets in the texts of a message.
func (w *watched) clean(m llm.Message) llm.Message {
	if w.redact == nil {
		return m.Valid()
	}
	content := make(llm.Content, len(m.Content))
	for i, part := range m.Content {
		if t, ok := part.(llm.Text); ok {
			t.Text = w.redact(t.Text)
			part = t
		}
		content[i] = part
	}
	m.Content = content
	return m.Valid()
}

var aPerson = session.Speaker{Kind: session.SpeakerPerson}

func (w *watched) Prompt(ctx context.Context, p conversation.Prompt) (conversation.Prompted, error) {
	if p.Message.Empty() { // its agent goes on by itself
		return conversation.Prompted{}, nil
	}
	id := session.NewID()
	return conversation.Prompted{Draft: id}, w.send(ctx, session.Queued{
		Draft: id, Change: "added", Lane: cmp.Or(p.Lane, session.FromFollowUp), Message: w.clean(p.Message), Speaker: aPerson,
	})
}

func (w *watched) Edit(ctx context.Context, draft session.ID, m llm.Message) error {
	return w.send(ctx, session.Queued{Draft: draft, Change: "edited", Message: w.clean(m), Speaker: aPerson})
}

func (w *watched) Move(ctx context.Context, draft session.ID, lane session.Source, before session.ID) error {
	return w.send(ctx, session.Queued{Draft: draft, Change: "moved", Lane: lane, Before: before})
}

func (w *watched) Remove(ctx context.Context, draft session.ID) error {
	return w.send(ctx, session.Queued{Draft: draft, Change: "removed"})
}

func (w *watched) Answer(ctx context.Context, question string, answers ...ask.Answer) error {
	return w.send(ctx, session.Answered{ID: question, Answers: answers, By: aPerson})
}

func (w *watched) Abort(ctx context.Context) error { return w.send(ctx, session.Abort{By: aPerson}) }
func (w *watched) Close() error                    { return nil }

// The rest is for the process that runs the agent.

func (w *watched) Run(context.Context, conversation.Prompt) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) { yield(session.Event{}, conversation.ErrUnsupported) }
}

func (w *watched) Set(context.Context, session.Change) error { return conversation.ErrUnsupported }

func (w *watched) Rewind(context.Context, conversation.Back) (p *files.Plan, err error) {
	return nil, conversation.ErrUnsupported
}

func (w *watched) Trim(context.Context) (e *session.Event, err error) {
	return nil, conversation.ErrUnsupported
}

func (w *watched) Command(context.Context, string) (e session.Event, err error) {
	return e, conversation.ErrUnsupported
}

func (w *watched) Pin(context.Context, session.ID, bool) error { return conversation.ErrUnsupported }

func (w *watched) Rename(context.Context, string) error { return conversation.ErrUnsupported }

func (w *watched) Window(context.Context) (c conversation.ContextWindow, err error) {
	return c, conversation.ErrUnsupported
}

func (w *watched) Rules(context.Context) (all []conversation.Rule, err error) {
	return nil, conversation.ErrUnsupported
}

func (w *watched) Revoke(context.Context, string) error { return conversation.ErrUnsupported }

func (w *watched) EndJob(context.Context, string) error { return conversation.ErrUnsupported }

func (w *watched) Fork(context.Context, session.ID) (id session.SessionID, err error) {
	return "", conversation.ErrUnsupported
}

func (w *watched) Compact(context.Context, string) (e *session.Event, all []conversation.Warning, err error) {
	return nil, nil, conversation.ErrUnsupported
}
