package agent

import (
	"context"
	"errors"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
)

// Steer queues a message of a person that enters the conversation as soon as it can: after the calls that are running. Calls of the same
// answer that have not begun by then are skipped. Without a run it waits for the next one.
func (a *Agent) Steer(ctx context.Context, m llm.Message) (request.Draft, error) {
	return a.Queue(ctx, request.Draft{Lane: session.FromSteering, Message: session.Message{Message: m, Speaker: a.options.person()}})
}

// FollowUp queues a message of a person that enters when the run would otherwise end.
func (a *Agent) FollowUp(ctx context.Context, m llm.Message) (request.Draft, error) {
	return a.Queue(ctx, request.Draft{Lane: session.FromFollowUp, Message: session.Message{Message: m, Speaker: a.options.person()}})
}

// Queue queues a message at the end of a lane. The message needs a speaker. A draft without an ID gets one. The queue is in the journal, so it
// outlives the process, and other processes can add to it. Drafts change by [Agent.Request]. Queue returns a [*request.LateError] if there
// was a draft with the ID before.
func (a *Agent) Queue(ctx context.Context, d request.Draft) (request.Draft, error) {
	if d.Message.Empty() {
		return request.Draft{}, errEmpty
	}
	if d.ID == "" {
		d.ID = session.NewID()
	}
	d.Message = incoming(d.Message)
	_, err := a.Request(ctx, session.Queued{
		Draft: d.ID, Change: "added", Lane: d.Lane, Message: d.Message.Message, Speaker: d.Message.Speaker,
	})
	return d, err
}

// incoming is a message as it may come in: valid, and in the role of the user.
func incoming(m session.Message) session.Message {
	m.Role = llm.RoleUser
	m.Message = m.Valid()
	return m
}

// person is the person who uses the agent, as a speaker.
func (o *Options) person() session.Speaker {
	return session.Speaker{Kind: session.SpeakerPerson, Name: o.Frontend}
}

// Request makes a request to the agent, as [request.Send] does from another process: a change of a draft, an answer to a question, an
// abort, a change of the agent. It returns a [*request.LateError] if others were first.
func (a *Agent) Request(ctx context.Context, b session.Body) (session.Event, error) {
	if err := request.Check(b); err != nil {
		return session.Event{}, err
	}
	if q, ok := b.(session.Queued); ok && q.Change == "edited" {
		q.Message = incoming(session.Message{Message: q.Message}).Message
		b = q
	}
	return a.feed.request(ctx, b)
}

// Requests returns the drafts, questions and requests that wait now.
func (a *Agent) Requests() request.State {
	r, _ := a.feed.now()
	return r
}

// request appends a request and says whether it counts. No run depends on it: if the disk is full, only this request fails, and the next one tries
// again.
func (f *feed) request(ctx context.Context, b session.Body) (session.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verdict = nil
	before := f.failed
	events, err := f.write(ctx, session.Stamp{}, []session.Body{b})
	if err != nil {
		if _, fenced := errors.AsType[*session.FencedError](err); !fenced {
			f.failed = before
		}
		return session.Event{}, err
	}
	return events[0], f.verdict
}

// enter moves drafts from a lane into the conversation and returns how many. Drafts that hooks reject leave the queue too, but do not
// count. If another process changes the queue meanwhile, it looks again.
func (r *run) enter(lane session.Source) (entered int, _ error) {
	how := r.a.options.Steering
	switch lane {
	case session.FromFollowUp:
		how = r.a.options.FollowUps
	case session.FromNews:
		how = All
	}
	for {
		var bodies []session.Body
		drafts, at := r.a.feed.drafts()
		entered = 0
		for _, d := range drafts {
			if d.Lane != lane || how == OneAtATime && entered == 1 {
				continue
			}
			came, refused := r.a.hooks.prompt(r.ctx, incoming(d.Message))
			if refused == nil {
				entered++
			}
			bodies = append(append(bodies, session.Queued{Draft: d.ID, Change: "taken", Lane: lane}), came...)
		}
		_, err := r.a.feed.appendAt(r.ctx, at, bodies...)
		if !errors.Is(err, errMoved) {
			return entered, err
		}
	}
}

// errMoved says that the journal has another end than the caller saw.
var errMoved = errors.New("the journal has gone on")

// drafts returns the queue, and the entry up to which it is known.
func (f *feed) drafts() ([]request.Draft, int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests.Drafts, f.last
}

// appendAt is append if the journal still ends with an entry, and [errMoved] if it does not.
func (f *feed) appendAt(ctx context.Context, last int64, bodies ...session.Body) ([]session.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != last {
		return nil, errMoved
	}
	at := f.stamp
	at.Expect = last
	return f.write(ctx, at, bodies)
}
