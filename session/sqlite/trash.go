package sqlite

import (
	"context"

	"github.com/tenon-agent/tenon/session"
)

// Delete implements [index.Index].
func (s *committer) Delete(ctx context.Context, id session.SessionID) error {
	_, err := s.trash(ctx, id, session.Deleted{})
	return err
}

// Restore implements [index.Index].
func (s *committer) Restore(ctx context.Context, id session.SessionID) error {
	_, err := s.trash(ctx, id, session.Deleted{Restored: true})
	return err
}

// trash moves a session to the trash or back, unless it is there.
func (s *committer) trash(ctx context.Context, id session.SessionID, b session.Deleted) ([]session.Event, error) {
	events, encoded, err := encode(session.Stamp{}, []session.Body{b})
	if err != nil {
		return nil, err
	}
	changed := false
	err = s.write(ctx, "write", false, func(t *txn) error {
		h, err := t.holder(id)
		if err != nil {
			return err
		}
		if !b.Restored {
			if err := s.free(id, h); err != nil {
				return err
			}
		}
		if trashed, err := t.trashed(h.key); err != nil || trashed != b.Restored {
			return err
		}
		changed = true
		return t.append(id, noEpoch, 0, events, encoded)
	})
	if err != nil || !changed {
		return nil, err
	}
	return events, nil
}

// trashed reports whether a session is in the trash.
func (t *txn) trashed(key int64) (trashed bool, err error) {
	err = t.row(`SELECT deleted <> 0 FROM sessions WHERE key = ?`, []any{key}, &trashed)
	return trashed, err
}

// Purge implements [index.Store]. It overwrites the removed data.
func (s *committer) Purge(ctx context.Context, id session.SessionID) error {
	return s.write(ctx, "purge from", true, func(t *txn) error {
		h, err := t.holder(id)
		if err != nil {
			return err
		}
		if err := s.free(id, h); err != nil {
			return err
		}
		if err := t.exec(`PRAGMA secure_delete = ON`); err != nil {
			return err
		}
		defer func() { _ = t.exec(`PRAGMA secure_delete = OFF`) }()
		// From now on only its forks have it.
		if err := t.exec(`UPDATE sessions SET kept = 1, title = '', tags = '', token = '', owner = '' WHERE key = ?`, h.key); err != nil {
			return err
		}
		for key := h.key; key != 0; {
			if key, err = t.release(key); err != nil {
				return err
			}
		}
		t.changed, t.head = id, &head{key: h.key, id: id}
		return nil
	})
}

// release removes the entries of a purged session that no fork needs. If it removes all, it returns the key of the session that this one was
// forked from, which may not be needed any more either; else 0.
func (t *txn) release(key int64) (next int64, err error) {
	var kept bool
	var base, needed int64
	if err := t.row(`SELECT kept, base FROM sessions WHERE key = ?`, []any{key}, &kept, &base); err != nil || !kept {
		return 0, err
	}
	first, last := place(key, 1), lastPlace(key)
	if err := t.row(`SELECT coalesce(max(base), 0) FROM sessions WHERE base BETWEEN ? AND ? AND base <> 0`,
		[]any{first, last}, &needed); err != nil {
		return 0, err
	}
	type step struct {
		query string
		args  []any
	}
	steps := []step{
		{`DELETE FROM spending WHERE place BETWEEN ? AND ?`, []any{first, last}},
		{`DELETE FROM entries WHERE place BETWEEN ? AND ?`, []any{max(first, needed+1), last}},
	}
	if needed > 0 {
		steps = append(steps, step{`DELETE FROM entries WHERE place BETWEEN ? AND ? AND parent = ''`, []any{first + 1, needed}})
	} else {
		next = keyOf(base)
		steps = append(steps,
			step{`DELETE FROM blobs WHERE key IN (SELECT blob FROM blob_uses WHERE session = ?1)
				AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.key AND session <> ?1)`, []any{key}},
			step{`DELETE FROM blob_uses WHERE session = ?`, []any{key}},
			step{`DELETE FROM sessions WHERE key = ?`, []any{key}})
	}
	for _, one := range steps {
		if err := t.exec(one.query, one.args...); err != nil {
			return 0, err
		}
	}
	return next, nil
}
