package ledger

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Sent is what a request sends.
type Sent struct {
	Number int                // of the request in its session, from 1
	Of     int                // requests of the session
	Next   bool               // it was not sent yet: it is what stands on the branch now
	Entry  session.Event      // the [session.Requested]; of the next request the end of the branch
	Record *session.Requested // what the journal says of it; nil: of the next one
	Epoch  session.Event      // the zero Event: there is none yet
	Digest session.Event      // what stands for the beginning; the zero Event: nothing does

	Model   llm.Model
	Request llm.Request
	Blocks  []window.Block // of its messages, with their tokens
	System  int            // tokens of the system prompt, about
	Tools   []int          // tokens of each tool, about
	Tokens  int            // of all, as the window estimates them
	Usable  int            // tokens that a request may have
	Level   window.Level
	Differs string // what is not as it was sent, when the hashes say so
}

// NoRequestError says that a session has no such request.
type NoRequestError struct {
	Session session.SessionID
	Number  int
	Of      int
}

func (e *NoRequestError) Error() string {
	if e.Of == 0 {
		return fmt.Sprintf("the journal of session %s knows of no request", e.Session)
	}
	return fmt.Sprintf("session %s has %d requests, and no request %d", e.Session, e.Of, e.Number)
}

// Look makes the request of that number again, as the journal says that it was sent, and compares it with the hashes that were taken
// then. Number 0 is the next request, as it would be if nothing came in between. The error is a [*NoRequestError], or that of the store.
func Look(ctx context.Context, store session.Store, id session.SessionID, number int) (*Sent, error) {
	s := &Sent{Number: number}
	if err := s.find(ctx, store, id); err != nil {
		return nil, err
	}
	path := session.Stored(store, id, s.Entry.ID)
	view, err := window.Look(ctx, path)
	if err != nil {
		return nil, err
	}
	s.Epoch, s.Digest, s.Blocks = view.Epoch, view.Digest, view.Blocks
	s.Request.Messages = view.Messages
	var header window.Header
	if e, ok := view.Epoch.Body.(session.Epoch); ok {
		header = window.Header{Model: e.Model, System: e.System, Tools: e.Tools, Thinking: e.Thinking}
		s.Request.System, s.Request.Tools, s.Request.Thinking = e.System, e.Tools, e.Thinking
	}
	s.Tokens, s.Usable = view.Estimate(header).Tokens, window.Usable(header)
	if s.Record != nil && s.Record.Estimate > 0 {
		s.Tokens = int(s.Record.Estimate)
	}
	s.Level = window.LevelOf(s.Tokens, s.Usable)
	s.Model = header.Model
	s.count()
	return s, s.prove(ctx, path)
}

// find is the entry of the request.
func (s *Sent) find(ctx context.Context, store session.Store, id session.SessionID) error {
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
		s.Entry, err = session.Tip(ctx, session.Stored(store, id, ""))
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

// prove compares with what was taken down when the request was sent.
func (s *Sent) prove(ctx context.Context, path session.Path) error {
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
