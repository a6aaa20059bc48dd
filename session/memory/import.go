package memory

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// Import implements [session.Log].
func (s *log) Import(ctx context.Context, entries iter.Seq2[session.Event, error]) (session.SessionID, error) {
	all, err := collect(ctx, entries)
	if err != nil {
		return "", err
	}
	if len(all) == 0 || all[0].Kind() != (session.Created{}).Kind() {
		return "", session.ErrNoRoot
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	id := all[0].ID
	if id == "" {
		id = session.NewSessionID()
	}
	if s.sessions[id] != nil {
		return "", fmt.Errorf("session %s: %w", id, session.ErrExists)
	}
	j, seen := newJournal(id), make(map[session.ID]bool, len(all))
	if _, err := s.inherit(j, all[0].Body.(session.Created)); err != nil {
		return "", err
	}
	for _, e := range all {
		if seen[e.ID] {
			return "", fmt.Errorf("session %s: entry %q: %w", id, e.ID, session.ErrExists)
		}
		seen[e.ID] = e.ID != ""
		if err := j.take(e); err != nil {
			return "", err
		}
	}
	s.begin(j)
	return id, nil
}

// collect holds a sequence until the store may be locked.
func collect(ctx context.Context, entries iter.Seq2[session.Event, error]) (all []session.Event, err error) {
	for e, err := range entries {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = check(false, []session.Body{e.Body})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// take gives an imported event its place.
func (j *journal) take(e session.Event) error {
	if h, ok := e.Body.(session.Head); ok {
		if _, _, err := j.reach(h.To); err != nil {
			return err
		}
	}
	if e.Time = e.Time.UTC().Truncate(time.Microsecond); e.Time.IsZero() {
		e.Time = session.Now()
	}
	e.Imported = true
	j.add(e)
	return nil
}
