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

// Import implements [session.Writer].
func (w *writer) Import(ctx context.Context, entries iter.Seq2[session.Event, error]) error {
	all, err := collect(ctx, entries)
	if err != nil {
		return err
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	j, err := w.journal(ctx)
	if err != nil {
		return err
	}
	if err := j.fits(all); err != nil || len(all) == 0 {
		return err
	}
	for _, e := range all {
		if err := j.take(e); err != nil {
			return err
		}
	}
	j.wake()
	return nil
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

// fits returns an error when one of the events has an ID that is there already, or goes on from an entry that is not.
func (j *journal) fits(all []session.Event) error {
	there := make(map[session.ID]bool, len(j.entries)+len(all))
	for _, e := range j.entries {
		there[e.ID] = true
	}
	branch := map[session.ID]bool{} // of the IDs that come, those that are on one
	for _, e := range all {
		if h, ok := e.Body.(session.Head); ok && !branch[h.To] {
			if _, _, err := j.reach(h.To); err != nil {
				return err
			}
		}
		if there[e.ID] {
			return fmt.Errorf("session %s: entry %q: %w", j.id, e.ID, session.ErrExists)
		}
		there[e.ID], branch[e.ID] = e.ID != "", e.OnBranch()
	}
	return nil
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
