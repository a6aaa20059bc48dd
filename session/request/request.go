// Package request has the requests that any process can send to the agent of a session: drafts, answers, aborts, changes. A request is an
// entry. [State] folds the entries in their order, so that the agent and every sender agree which request came first.
package request

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
)

// Draft is a queued message that has not entered the conversation.
type Draft struct {
	ID      session.ID
	Lane    session.Source // FromSteering, FromFollowUp or FromNews
	Message session.Message
}

// Question is an [Asking] that no [Asked] has ended.
type Question struct {
	session.Asking
	Seq    int64             // of its entry
	Answer *session.Answered // the answer that counts; nil: there is none yet
	By     int64             // the entry of the answer
}

// State is the open requests and questions of a session. The zero value is that of a session without entries. It is not safe for concurrent
// use.
type State struct {
	Seq       int64           // the newest entry that was added
	Drafts    []Draft         // in the order in which those of a lane will enter
	Questions []Question      // oldest first
	Changes   []session.Event // each a [Change] that no [Changed] has settled
	Run       session.RunID   // the run that is on; empty: none

	drafts map[session.ID]int64 // all drafts that ever were, with the entry that ended them; 0: none has
	asked  map[string]int64
}

// Kinds are the kinds of the entries that [State] folds.
func Kinds() []string { return append(Aside(), "run_started", "run_ended") }

// Aside are those of [Kinds] that are aside of every branch. A store finds their entries without reading all of a session.
func Aside() []string {
	return []string{"queued", "asking", "answered", "asked", "abort", "change", "changed"}
}

// LateError reports a request that came too late: the draft has entered the conversation or is gone, the question has its answer, the
// run is over. The request changes nothing.
type LateError struct {
	What string // "draft", "question", "run"
	ID   string // which one
	By   int64  // the entry that came first; 0: unknown
}

func (e *LateError) Error() string {
	switch e.What {
	case "draft":
		return fmt.Sprintf("cannot change draft %s: it has entered the conversation, was removed, or never existed", e.ID)
	case "question":
		return fmt.Sprintf("cannot answer question %s: it is no longer open", e.ID)
	default:
		return "cannot abort: the run is not on"
	}
}

// Code returns "session.late".
func (e *LateError) Code() string { return "session.late" }

// Add folds one entry. It returns a [*LateError] if the entry is a request that came too late, and another error if it does not fit what
// it asks for; both change nothing. Other entries are ignored, and so are imported ones: no file asks an agent for anything.
func (r *State) Add(e session.Event) error {
	r.Seq = max(r.Seq, e.Seq)
	if e.Imported {
		return nil
	}
	switch b := e.Body.(type) {
	case session.Queued:
		return r.queued(e, b)
	case session.Asking:
		r.Questions = append(r.Questions, Question{Asking: b, Seq: e.Seq})
	case session.Answered:
		return r.answered(e, b)
	case session.Asked:
		r.Questions = slices.DeleteFunc(slices.Clone(r.Questions), func(q Question) bool { return q.ID == b.ID })
		if r.asked == nil {
			r.asked = make(map[string]int64)
		}
		r.asked[b.ID] = e.Seq
	case session.Abort:
		if r.Run == "" || b.Run != "" && b.Run != r.Run {
			return &LateError{What: "run", ID: string(b.Run)}
		}
	case session.Change:
		if err := authority("change the agent", b.By); err != nil {
			return err
		}
		r.Changes = append(slices.Clip(r.Changes), e)
	case session.Changed:
		r.Changes = slices.DeleteFunc(slices.Clone(r.Changes), func(c session.Event) bool { return c.ID == b.Request })
	case session.RunStarted:
		r.Run = b.Run
	case session.RunEnded:
		r.Run = ""
	}
	return nil
}

// Question returns an open question.
func (r *State) Question(id string) (Question, bool) {
	i := slices.IndexFunc(r.Questions, func(q Question) bool { return q.ID == id })
	if i < 0 {
		return Question{}, false
	}
	return r.Questions[i], true
}

// Waits reports whether a call waits for an open question.
func (r *State) Waits(call string) bool {
	return slices.ContainsFunc(r.Questions, func(q Question) bool {
		return q.Call == call || slices.ContainsFunc(q.Calls, func(p ask.Call) bool { return p.Call == call })
	})
}

// Waiting reports whether a draft waits in a lane.
func (r *State) Waiting(lane session.Source) bool {
	return slices.ContainsFunc(r.Drafts, func(d Draft) bool { return d.Lane == lane })
}

func (r *State) answered(e session.Event, b session.Answered) error {
	i := slices.IndexFunc(r.Questions, func(q Question) bool { return q.ID == b.ID })
	if i < 0 {
		return &LateError{What: "question", ID: b.ID, By: r.asked[b.ID]}
	}
	q := r.Questions[i]
	if q.Answer != nil {
		return &LateError{What: "question", ID: b.ID, By: q.By}
	}
	if err := authority("answer question "+b.ID, b.By); err != nil {
		return err
	}
	if want := len(q.Calls) + len(q.Questions); len(b.Answers) != want {
		return fmt.Errorf("cannot answer question %s: %d answers for %d calls and questions", b.ID, len(b.Answers), want)
	}
	q.Answer, q.By = &b, e.Seq
	r.Questions = slices.Clone(r.Questions)
	r.Questions[i] = q
	return nil
}

// authority returns an error for a speaker who is no person. Entries without one are those of a program that a person wrote.
func authority(what string, by session.Speaker) error {
	if by.Kind == "" || by.Kind == session.SpeakerPerson {
		return nil
	}
	return fmt.Errorf("cannot %s: only a person may, and this is %s %s", what, by.Kind, by.Name)
}

func (r *State) queued(e session.Event, b session.Queued) error {
	if b.Change == "added" {
		return r.added(e, b)
	}
	i := slices.IndexFunc(r.Drafts, func(d Draft) bool { return d.ID == b.Draft })
	if i < 0 {
		return &LateError{What: "draft", ID: string(b.Draft), By: r.drafts[b.Draft]}
	}
	d := r.Drafts[i]
	switch b.Change {
	case "edited":
		if b.Message.Empty() {
			return fmt.Errorf("cannot edit draft %s: the message is empty", b.Draft)
		}
		d.Message = message(b, d.Lane)
		r.Drafts = slices.Clone(r.Drafts)
		r.Drafts[i] = d
	case "moved":
		if b.Lane != "" {
			d.Lane, d.Message.Source = b.Lane, b.Lane
		}
		r.insert(d, b.Before)
	case "taken":
		if e.Run == "" {
			return fmt.Errorf("cannot take draft %s: only a run does", b.Draft)
		}
		fallthrough
	case "removed":
		r.drafts[b.Draft] = e.Seq
		r.Drafts = slices.Delete(slices.Clone(r.Drafts), i, i+1)
	default:
		return fmt.Errorf("cannot change draft %s: unknown change %q", b.Draft, b.Change)
	}
	return nil
}

func (r *State) added(e session.Event, b session.Queued) error {
	if by, known := r.drafts[b.Draft]; known {
		return &LateError{What: "draft", ID: string(b.Draft), By: by}
	}
	if b.Draft == "" || b.Message.Empty() {
		return fmt.Errorf("cannot add draft %q: it needs an ID and a message", b.Draft)
	}
	if r.drafts == nil {
		r.drafts = make(map[session.ID]int64)
	}
	r.drafts[b.Draft] = 0
	r.insert(Draft{ID: b.Draft, Lane: b.Lane, Message: message(b, b.Lane)}, b.Before)
	return nil
}

// message is the message as it will enter the conversation.
func message(b session.Queued, lane session.Source) session.Message {
	return session.Message{Message: b.Message, Speaker: b.Speaker, Source: lane, Draft: b.Draft}
}

// insert puts a draft before another one, or at the end, and removes it from where it was.
func (r *State) insert(d Draft, before session.ID) {
	drafts := slices.DeleteFunc(slices.Clone(r.Drafts), func(o Draft) bool { return o.ID == d.ID })
	at := slices.IndexFunc(drafts, func(o Draft) bool { return o.ID == before })
	if at < 0 {
		at = len(drafts)
	}
	r.Drafts = slices.Insert(drafts, at, d)
}

// Read folds the requests and questions of a session as they are now.
func Read(ctx context.Context, s session.Log, id session.SessionID) (*State, error) {
	r := new(State)
	for e, err := range s.Read(ctx, id, 0, Kinds()...) {
		if err != nil {
			return nil, err
		}
		_ = r.Add(e) // its sender knows
	}
	return r, nil
}

// Request appends a request ([Queued], [Answered], [Abort] or [Change]) to a session without its lease. It returns a [*LateError] if
// others were first. The agent that writes the session acts on the request as soon as it sees it; without one, the next agent does.
func Send(ctx context.Context, s session.Log, id session.SessionID, b session.Body) (session.Event, error) {
	if err := Check(b); err != nil {
		return session.Event{}, err
	}
	events, err := s.Annotate(ctx, id, b)
	if err != nil {
		return session.Event{}, err
	}
	var r State
	for e, err := range s.Read(ctx, id, 0, Kinds()...) {
		if err != nil {
			return events[0], err
		}
		if err := r.Add(e); e.Seq == events[0].Seq {
			return events[0], err
		}
	}
	return events[0], nil
}

// Check returns an error if a body is no request that any process may make.
func Check(b session.Body) error {
	switch b := b.(type) {
	case session.Queued:
		if b.Change == "taken" {
			return fmt.Errorf("cannot take draft %s: only a run does", b.Draft)
		}
		if b.Change == "added" && (b.Lane != session.FromSteering && b.Lane != session.FromFollowUp && b.Lane != session.FromNews) {
			return fmt.Errorf("cannot add draft %s: unknown lane %q", b.Draft, b.Lane)
		}
		if (b.Change == "added" || b.Change == "edited") && (b.Message.Empty() || b.Speaker.Kind == "") {
			return fmt.Errorf("cannot queue draft %s: it needs a message and its speaker", b.Draft)
		}
	case session.Answered, session.Abort, session.Change:
	case nil:
		return fmt.Errorf("cannot request nothing")
	default:
		return fmt.Errorf("cannot request %s", b.Kind())
	}
	return nil
}
