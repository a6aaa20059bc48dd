package agent

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/window"
)

// partialEvery is how often an unfinished answer is saved at most.
const partialEvery = 250 * time.Millisecond

// mostLate is how many events of a cancelled request are read until the usage that the provider has reported.
const mostLate = 10_000

// maxOverflows is how often a request that was too long is made smaller and sent again.
const maxOverflows = 2

// answer asks the model for its next answer, publishes it as it streams, and makes it durable.
func (r *run) answer() (llm.Message, error) {
	for overflows := 0; ; overflows++ {
		client := r.setup.client
		message, err := r.exchangeOnce(client)
		switch {
		case err == nil:
			if !r.concluding {
				message = r.setup.dialect.Answer(message)
			}
			message = finish(message, client.Model())
			r.usage = r.usage.Plus(message.Usage)
			_, err = r.append(session.Message{Message: message})
			return message, err
		case llm.AsError(err).Kind != llm.KindContextOverflow || overflows == maxOverflows || r.ctx.Err() != nil:
			return llm.Message{}, err
		}
		smaller, failed := r.a.options.Window.Overflow(r.ctx, r.a.feed.branch, r.header(), err)
		if failed != nil {
			return llm.Message{}, failed
		}
		if len(smaller) == 0 {
			return llm.Message{}, err
		}
		r.spend(smaller)
		if _, err := r.append(smaller...); err != nil {
			return llm.Message{}, err
		}
	}
}

// exchangeOnce sends one request and takes in the answer to it.
func (r *run) exchangeOnce(client llm.Client) (llm.Message, error) {
	req, err := r.request(client)
	if err != nil {
		return llm.Message{}, err
	}
	r.moment(live.MessageStarted{Model: client.Model().Ref()})
	s := stream{run: r, saved: time.Now()}
	message, err := s.consume(client, req)
	if err != nil {
		if saved := s.save(); saved != nil { // what people have seen stays
			err = saved
		}
	}
	return message, err
}

// header returns the part of the next request before its messages.
func (r *run) header() window.Header {
	h := r.setup.header()
	h.BeforeSummary = r.a.hooks.beforeCompaction
	return h
}

func (r *run) request(client llm.Client) (*llm.Request, error) {
	req, entries, err := r.a.options.Window.Request(r.ctx, r.a.feed.branch, r.header())
	if err != nil {
		return nil, fmt.Errorf("agent: cannot make the request: %w", err)
	}
	if r.concluding {
		req.ToolChoice = llm.ToolNone
	}
	req.Messages = r.setup.dialect.Messages(req.Messages)
	if entries, err = window.Seal(r.ctx, r.a.feed.branch, entries, req); err != nil {
		return nil, fmt.Errorf("agent: cannot make the request: %w", err)
	}
	r.spend(entries)
	for i, b := range entries {
		if sealed, ok := b.(session.Requested); ok {
			if sealed.Broken != "" {
				r.moment(live.Notice{Text: "the request misses the provider's cache: within an epoch " + sealed.Broken + " has changed"})
			}
			sealed.Used, sealed.Elapsed = r.usage, session.Duration(time.Since(r.begunAt))
			entries[i] = sealed
		}
	}
	_, err = r.append(entries...)
	return req, err
}

// stream takes in one answer.
type stream struct {
	*run
	unsaved  llm.Content     // what came since the last Partial, but for the part that still grows
	growing  strings.Builder // the text of that part
	thinking bool            // it is thinking
	partials int             // Partials in the journal since the answer began
	saved    time.Time
}

// consume runs the stream to its end. A panic of the client is an error like any other; one of the consumer or of a hook,
// which run inside of it, goes on.
func (s *stream) consume(client llm.Client, req *llm.Request) (m llm.Message, err error) {
	inside, late := false, 0
	defer func() {
		if p := recover(); p != nil {
			if inside {
				panic(p)
			}
			m, err = llm.Message{}, &llm.Error{
				Kind: llm.KindOther, Model: client.Model().Ref(),
				Message: fmt.Sprintf("the client panicked: %v", p),
				Err:     fmt.Errorf("%v\n%s", p, debug.Stack()), // for who debugs it; the journal has no use for it
			}
		}
	}()
	for e, err := range s.budget.Client(client).Stream(s.ctx, req) {
		if err != nil {
			return llm.Message{}, llm.AsError(err)
		}
		if done, ok := e.(llm.Done); ok && late == 0 {
			return done.Message, nil
		} else if ok {
			e = llm.Charged{Model: client.Model().Ref(), Usage: done.Message.Usage}
		}
		inside = true
		err := s.take(e)
		inside = false
		if err != nil {
			return llm.Message{}, err
		}
		if late > 0 || s.ctx.Err() != nil {
			if _, charged := e.(llm.Charged); charged || late == mostLate {
				return llm.Message{}, &llm.Error{Kind: llm.KindCancelled, Err: s.ctx.Err()}
			}
			late++
		}
	}
	return llm.Message{}, &llm.Error{
		Kind: llm.KindProtocol, Model: client.Model().Ref(), Message: "the stream ended without its final event",
	}
}

// take publishes one event of the answer, and keeps its text for the next Partial.
func (s *stream) take(e llm.Event) error {
	now := time.Now()
	switch e := e.(type) {
	case llm.TextDelta:
		s.grow(e.Text, false)
		s.a.feed.hub.delta(now, live.Delta{Type: live.DeltaText, Part: e.Part, Text: e.Text})
	case llm.ThinkingDelta:
		s.grow(e.Text, true)
		s.a.feed.hub.delta(now, live.Delta{Type: live.DeltaThinking, Part: e.Part, Text: e.Text})
	case llm.CallDelta:
		s.a.feed.hub.delta(now, live.Delta{
			Type: live.DeltaArguments, Part: e.Part, Text: e.Arguments, Call: e.ID, Tool: e.Name,
		})
	case llm.CallReady:
		ready := live.CallReady{Call: e.Call}
		if c, err := s.setup.dialect.Call(e.Call); err == nil && c.Name != e.Call.Name {
			ready.As = c.Name
		}
		s.moment(ready)
		s.early.begin(e.Call)
	case llm.Waiting:
		s.moment(live.Waiting{Attempt: e.Attempt, Of: e.Of, Delay: e.Delay, Cause: e.Cause})
	case llm.Routed:
		s.moment(live.Routed{Model: e.Model, Key: e.Key, Cause: e.Cause})
	case llm.RateLimits:
		s.moment(live.RateLimits{RateLimits: e})
	case llm.Reset:
		return s.reset(e.Cause)
	case llm.Charged:
		return s.charge(e)
	}
	if now.Sub(s.saved) < partialEvery {
		return nil
	}
	return s.save()
}

func (s *stream) grow(text string, thinking bool) {
	if thinking != s.thinking {
		s.seal()
		s.thinking = thinking
	}
	s.growing.WriteString(text)
}

// seal ends the part that grows.
func (s *stream) seal() {
	if s.growing.Len() == 0 {
		return
	}
	text := strings.ToValidUTF8(s.growing.String(), "\uFFFD")
	if s.thinking {
		s.unsaved = append(s.unsaved, llm.Thinking{Text: text})
	} else {
		s.unsaved = append(s.unsaved, llm.Text{Text: text})
	}
	s.growing = strings.Builder{}
}

// save makes durable what came since it was last called.
func (s *stream) save() error {
	s.seal()
	if len(s.unsaved) == 0 {
		return nil
	}
	_, err := s.append(session.Partial{Content: s.unsaved})
	s.unsaved, s.saved = nil, time.Now()
	s.partials++
	return err
}

// reset makes void what came of the answer so far.
func (s *stream) reset(cause *llm.Error) error {
	s.unsaved, s.growing = nil, strings.Builder{}
	s.early.discard()
	s.moment(live.Reset{Cause: cause})
	if s.partials == 0 {
		return nil
	}
	s.partials = 0
	_, err := s.append(session.Discarded{Cause: cause})
	return err
}

// charge records the usage of a request without a whole answer.
func (s *stream) charge(e llm.Charged) error {
	if e.Usage == (llm.Usage{}) {
		return nil
	}
	s.usage = s.usage.Plus(e.Usage)
	_, err := s.append(session.Note{Text: "a request failed or was cancelled", By: e.Model, Usage: e.Usage})
	return err
}

// finish completes a message with what its client may have left open: who wrote it, what it cost, and a name for every call
// that is unique within it.
func finish(m llm.Message, model llm.Model) llm.Message {
	m.Role = llm.RoleAssistant
	m = m.Valid()
	if m.Model == "" {
		m.Model = model.Ref()
	}
	m.Usage.Cost = model.Price.Cost(m.Usage)
	names := make(map[string]bool)
	var content llm.Content
	for i, p := range m.Content {
		c, ok := p.(llm.ToolCall)
		if !ok {
			continue
		}
		if c.ID == "" || names[c.ID] {
			if content == nil {
				content = append(content, m.Content...)
			}
			c.ID = "call_" + string(session.NewID())
			content[i] = c
		}
		names[c.ID] = true
	}
	if content != nil {
		m.Content = content
	}
	return m
}
