package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// holder is the holder of the lease in the row of a session.
type holder struct {
	key   int64
	epoch int64
	token string // "": the lease is free
	owner string
	since int64
}

func (t *txn) holder(id session.SessionID) (h holder, err error) {
	err = t.row(`SELECT key, epoch, token, owner, since FROM sessions WHERE id = ? AND kept = 0`, []any{string(id)},
		&h.key, &h.epoch, &h.token, &h.owner, &h.since)
	if errors.Is(err, sql.ErrNoRows) {
		err = noSession(id)
	}
	return h, err
}

// free returns a *LockedError if a living writer holds the lease.
func (s *file) free(id session.SessionID, h holder) error {
	if !s.owner.lives(h.token) {
		return nil
	}
	return &session.LockedError{Session: id, Owner: h.owner, Since: fromMicro(h.since)}
}

// Open implements [index.Store].
func (s *committer) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	if _, err := s.find(ctx, id); err != nil && !errors.Is(err, session.ErrNotFound) {
		return nil, err
	}
	w := &writer{store: s, id: id}
	err := s.write(ctx, "open a session in", false, func(t *txn) error {
		h, err := t.holder(id)
		if err != nil {
			return err
		}
		if err := s.free(id, h); err != nil && !l.TakeOver {
			return err
		}
		if trashed, err := t.trashed(h.key); err != nil || trashed {
			return errors.Join(err, fmt.Errorf("session %s: %w: it is in the trash; restore it first", id, session.ErrNotFound))
		}
		token, err := s.owner.token()
		if err != nil {
			return err
		}
		w.epoch = h.epoch + 1
		return t.exec(`UPDATE sessions SET epoch = ?, token = ?, owner = ?, since = ? WHERE key = ?`,
			w.epoch, token, l.Owner, session.Now().UnixMicro(), h.key)
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// writer implements [session.Writer].
type writer struct {
	store *committer
	id    session.SessionID
	epoch int64

	mu     sync.RWMutex // appends share it
	closed bool
}

func (w *writer) Session() session.SessionID { return w.id }

func (w *writer) Append(ctx context.Context, at session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return nil, fmt.Errorf("session %s: append to a closed writer: %w", w.id, fs.ErrClosed)
	}
	return w.store.append(ctx, w.id, w.epoch, at, bodies)
}

// Close releases the lease, unless another writer took it. If Close fails, the lease is free when the store is closed.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.store.write(context.Background(), "close a session in", false, func(t *txn) error {
		return t.exec(`UPDATE sessions SET token = '', owner = '' WHERE id = ? AND epoch = ?`, string(w.id), w.epoch)
	})
}

func fromMicro(t int64) time.Time { return time.UnixMicro(t).UTC() }

// fromMicroOrNever and microOrNever are for columns in which 0 is the zero time.
func fromMicroOrNever(t int64) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return fromMicro(t)
}

func microOrNever(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
