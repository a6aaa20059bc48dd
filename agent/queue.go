package agent

import (
	"context"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Draft is a message that waits in a queue of the agent. It can be changed and removed until it enters the conversation.
type Draft struct {
	ID      session.ID
	Lane    session.Source // FromSteering or FromFollowUp
	Message llm.Message
}

// queue holds the drafts, oldest first. Every change is in the journal before it counts, so that a queue outlives its
// process.
type queue struct {
	mu     sync.Mutex
	feed   *feed
	drafts []Draft
}

// Steer queues a message that enters the conversation as soon as it can: after the calls that are running. Calls of the
// same answer that have not begun by then are skipped. Without a run it waits for the next one. It may be called at any
// time from any goroutine; the error is that of the journal.
func (a *Agent) Steer(ctx context.Context, m llm.Message) (Draft, error) {
	return a.queue.add(ctx, session.FromSteering, m)
}

// FollowUp queues a message that enters when the run would otherwise end. It may be called as [Agent.Steer] may.
func (a *Agent) FollowUp(ctx context.Context, m llm.Message) (Draft, error) {
	return a.queue.add(ctx, session.FromFollowUp, m)
}

// Drafts returns the queued messages, oldest first.
func (a *Agent) Drafts() []Draft {
	a.queue.mu.Lock()
	defer a.queue.mu.Unlock()
	return slices.Clone(a.queue.drafts)
}

// EditDraft replaces the message of a draft, or returns [ErrTaken].
func (a *Agent) EditDraft(ctx context.Context, id session.ID, m llm.Message) error {
	return a.queue.change(ctx, id, &m)
}

// RemoveDraft takes a draft out of its queue, or returns [ErrTaken].
func (a *Agent) RemoveDraft(ctx context.Context, id session.ID) error {
	return a.queue.change(ctx, id, nil)
}

func (q *queue) add(ctx context.Context, lane session.Source, m llm.Message) (Draft, error) {
	if m.Empty() {
		return Draft{}, errEmpty
	}
	m.Role = llm.RoleUser
	d := Draft{ID: session.NewID(), Lane: lane, Message: m.Valid()}
	q.mu.Lock()
	defer q.mu.Unlock()
	_, err := q.feed.append(ctx, session.Queued{Draft: d.ID, Change: "added", Lane: lane, Message: d.Message})
	if err != nil {
		return Draft{}, err
	}
	q.drafts = append(q.drafts, d)
	return d, nil
}

// change edits the draft, or removes it when m is nil.
func (q *queue) change(ctx context.Context, id session.ID, m *llm.Message) error {
	if m != nil && m.Empty() {
		return errEmpty
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.drafts, func(d Draft) bool { return d.ID == id })
	if i < 0 {
		return ErrTaken
	}
	entry := session.Queued{Draft: id, Change: "removed", Lane: q.drafts[i].Lane}
	if m != nil {
		m.Role = llm.RoleUser
		entry.Change, entry.Message = "edited", m.Valid()
	}
	if _, err := q.feed.append(ctx, entry); err != nil {
		return err
	}
	if m != nil {
		q.drafts[i].Message = entry.Message
	} else {
		q.drafts = slices.Delete(q.drafts, i, i+1)
	}
	return nil
}

// waiting reports whether a draft waits in a lane.
func (q *queue) waiting(lane session.Source) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.drafts, func(d Draft) bool { return d.Lane == lane })
}

// enter moves drafts of a lane into the conversation, one or all of them. entry makes the entry that a draft becomes. It
// returns how many messages entered: those that entry rejects leave the queue too, but do not count.
func (q *queue) enter(ctx context.Context, lane session.Source, how Delivery, entry func(Draft) (session.Body, bool)) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var (
		bodies  []session.Body
		kept    []Draft
		entered int
	)
	for _, d := range q.drafts {
		if d.Lane != lane || how == OneAtATime && entered == 1 {
			kept = append(kept, d)
			continue
		}
		body, ok := entry(d)
		if ok {
			entered++
		}
		bodies = append(bodies, session.Queued{Draft: d.ID, Change: "taken", Lane: lane}, body)
	}
	if _, err := q.feed.append(ctx, bodies...); err != nil {
		return 0, err
	}
	q.drafts = kept
	return entered, nil
}

// restore fills the queue from the journal.
func (q *queue) restore(ctx context.Context, store session.Store, id session.SessionID) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drafts = nil
	for e, err := range store.Annotations(ctx, id, session.Queued{}.Kind()) {
		if err != nil {
			return err
		}
		b, ok := e.Body.(session.Queued)
		if !ok {
			continue
		}
		i := slices.IndexFunc(q.drafts, func(d Draft) bool { return d.ID == b.Draft })
		switch {
		case b.Change == "added":
			q.drafts = append(q.drafts, Draft{ID: b.Draft, Lane: b.Lane, Message: b.Message})
		case i < 0:
		case b.Change == "edited":
			q.drafts[i].Message = b.Message
		default:
			q.drafts = slices.Delete(q.drafts, i, i+1)
		}
	}
	return nil
}
