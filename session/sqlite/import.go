package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// Import implements [index.Store]. It is one transaction. SQLite moves pages that do not fit into its cache to its log.
func (s *committer) Import(ctx context.Context, entries iter.Seq2[session.Event, error]) (id session.SessionID, err error) {
	err = s.write(ctx, "import into", true, func(t *txn) error {
		var r row
		err := r.takeAll(ctx, t, entries)
		id = r.sum.ID
		return err
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// takeAll appends imported entries. The first one makes the session.
func (r *row) takeAll(ctx context.Context, t *txn, entries iter.Seq2[session.Event, error]) error {
	for e, err := range entries {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = session.Check(false, e.Body)
		}
		if err == nil && r.key == 0 {
			*r, err = t.beginImport(e)
		} else if err == nil {
			err = r.take(t, e)
		}
		if err != nil {
			return err
		}
	}
	if r.key == 0 {
		return session.ErrNoRoot
	}
	return r.update(t)
}

// beginImport makes the session of an imported root.
func (t *txn) beginImport(e session.Event) (row, error) {
	if _, ok := e.Body.(session.Created); !ok {
		return row{}, session.ErrNoRoot
	}
	if e.ID == "" {
		e.ID = session.NewSessionID()
	}
	var key int64
	err := t.row(`SELECT key FROM sessions WHERE id = ?`, []any{string(e.ID)}, &key)
	if err == nil {
		return row{}, fmt.Errorf("session %s: %w", e.ID, session.ErrExists)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return row{}, err
	}
	e.Time, e.Imported = stamped(e.Time), true
	return t.create(e)
}

// take appends an imported entry.
func (r *row) take(t *txn, e session.Event) error {
	if e.ID == "" {
		e.ID = session.NewID()
	} else {
		var there int64
		err := t.row(`SELECT place FROM entries WHERE id = ? AND place BETWEEN ? AND ?`,
			[]any{string(e.ID), place(r.key, 1), lastPlace(r.key)}, &there)
		if err == nil {
			return fmt.Errorf("session %s: entry %q: %w", r.sum.ID, e.ID, session.ErrExists)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	e.Time, e.Imported = stamped(e.Time), true
	return r.put(t, e)
}

// put gives an imported entry its place.
func (r *row) put(t *txn, e session.Event) error {
	_, body, err := session.EncodeBody(e.Body)
	if err != nil {
		return err
	}
	e.Parent = ""
	events := []session.Event{e}
	sums, err := r.link(t, events, [][]byte{body})
	if err != nil {
		return err
	}
	return r.add(t, events[0], body, sums[0])
}

// stamped is the time of an imported entry as journals keep it; now, when it is not known.
func stamped(at time.Time) time.Time {
	if at.IsZero() {
		return session.Now()
	}
	return at.UTC().Truncate(time.Microsecond)
}
