package ledger

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Sent is the content of a request.
type Sent struct {
	Number  int                `json:"request"`  // of the request in its session, from 1
	Of      int                `json:"requests"` // requests of the session
	Next    bool               `json:"next"`     // it was not sent yet: the next request of the branch
	Entry   session.Event      `json:"-"`        // the [session.Requested]; of the next request the end of the branch
	Record  *session.Requested `json:"-"`        // its entry in the journal; nil for the next request
	Epoch   session.Event      `json:"-"`        // the zero Event: there is none yet
	Summary session.Event      `json:"-"`        // the newest summary; the zero Event: none

	Model   llm.Model      `json:"-"`
	Request llm.Request    `json:"-"`
	Blocks  []window.Block `json:"-"`              // of its messages, with their tokens
	System  int            `json:"-"`              // tokens of the system prompt, about
	Tools   []int          `json:"-"`              // tokens of each tool, about
	Tokens  int            `json:"tokens"`         // of all, as the window estimates them
	Usable  int            `json:"usable"`         // tokens that a request may have
	Limit   int            `json:"limit,omitzero"` // the reason for Usable, if the model has refused a larger request
	Level   window.Level   `json:"level"`
	Differs string         `json:"differs,omitzero"` // first part that differs from the sent request, according to the hashes
}

// NoRequestError says that a session has no such request.
type NoRequestError struct {
	Session session.SessionID
	Number  int
	Of      int
}

// Code is the stable code of the error.
func (*NoRequestError) Code() string { return "ledger.no_request" }

func (e *NoRequestError) Error() string {
	if e.Of == 0 {
		return fmt.Sprintf("the journal of session %s has no request", e.Session)
	}
	return fmt.Sprintf("session %s has %d requests, and no request %d", e.Session, e.Of, e.Number)
}

// Look rebuilds the request of that number from the journal, and compares it with the hashes that were recorded when it was sent.
// Number 0 is the next request, if nothing comes in between. The error is a [*NoRequestError], or that of the store.
func Look(ctx context.Context, store index.Store, id session.SessionID, number int) (*Sent, error) {
	s := &Sent{Number: number}
	if err := s.find(ctx, store, id); err != nil {
		return nil, err
	}
	path := view.Stored(store, id, s.Entry.ID)
	view, err := window.Look(ctx, path)
	if err != nil {
		return nil, err
	}
	s.Epoch, s.Summary, s.Blocks = view.Epoch, view.Summary, view.Blocks
	s.Request.Messages = view.Messages
	var header window.Header
	if e, ok := view.Epoch.Body.(session.Epoch); ok {
		header = window.Header{Model: e.Model, System: e.System, Tools: e.Tools, Settings: llm.Settings{Thinking: e.Thinking}}
		s.Request.System, s.Request.Tools, s.Request.Thinking = e.System, e.Tools, e.Thinking
	}
	s.Tokens, s.Usable = view.Estimate(header).Tokens, window.Usable(header)
	if s.Record != nil && s.Record.Estimate > 0 {
		s.Tokens = int(s.Record.Estimate)
	}
	if e, ok := view.Epoch.Body.(session.Epoch); ok && e.Limit > 0 {
		s.Limit = int(e.Limit)
		s.Usable = min(s.Usable, s.Limit)
	}
	s.Level = window.LevelOf(s.Tokens, s.Usable)
	s.Model = header.Model
	s.count()
	return s, s.prove(ctx, path)
}

// find is the entry of the request.
func (s *Sent) find(ctx context.Context, store index.Store, id session.SessionID) error {
	for e, err := range store.Read(ctx, id, 0, session.Requested{}.Kind()) {
		if err != nil {
			return err
		}
		if r, ok := e.Body.(session.Requested); ok {
			if s.Of++; s.Of == s.Number {
				s.Entry, s.Record = e, &r
			}
		}
	}
	switch {
	case s.Number == 0:
		s.Next, s.Number = true, s.Of+1
		var err error
		s.Entry, err = view.Tip(ctx, view.Stored(store, id, ""))
		return err
	case s.Record == nil:
		return &NoRequestError{id, s.Number, s.Of}
	}
	return nil
}

// count says how many tokens each part has.
func (s *Sent) count() {
	scale := tokens.Start(s.Model)
	if s.Request.System != "" {
		s.System = scale.Tokens(tokens.Text(s.Request.System))
	}
	for _, t := range s.Request.Tools {
		s.Tools = append(s.Tools, scale.Tokens(tokens.Tools([]llm.Tool{t})))
	}
	for i, message := range s.Request.Messages {
		s.Blocks[i].Tokens = scale.Tokens(scale.Family().Message(message))
	}
}

// prove compares the request with the hashes that were recorded when it was sent.
func (s *Sent) prove(ctx context.Context, path view.Path) error {
	if s.Record == nil {
		return nil
	}
	sealed, err := window.Seal(ctx, path, nil, &s.Request) // as if it were sent once more
	if err != nil {
		return err
	}
	now := sealed[0].(session.Requested)
	switch {
	case now.Chain == s.Record.Chain:
	case now.Broken != "":
		s.Differs = now.Broken
	default:
		s.Differs = fmt.Sprintf("the request was made of %d segments, and these are %d", s.Record.Segments, now.Segments)
	}
	return nil
}
