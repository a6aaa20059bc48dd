package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Create implements [session.Store].
func (s *Store) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	id := session.NewSessionID()
	events, bodies, err := encode(session.Stamp{}, []session.Body{c})
	if err != nil {
		return "", err
	}
	e := &events[0]
	e.Seq, e.ID = 1, id
	err = s.write(ctx, "create a session in", false, func(t *txn) error {
		time := e.Time.UnixMicro()
		if err := t.exec(`INSERT INTO sessions (id, seq, tip, title, named, dir, created, updated, from_session, from_entry)
			VALUES (?, 1, ?, '', 0, ?, ?, ?, ?, ?)`,
			string(id), string(id), c.Dir, time, time, string(c.From.Session), string(c.From.Entry)); err != nil {
			return err
		}
		var key int64
		if err := t.row(`SELECT key FROM sessions WHERE id = ?`, []any{string(id)}, &key); err != nil {
			return err
		}
		return t.insert(key, *e, bodies[0])
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// Annotate implements [session.Store].
func (s *Store) Annotate(ctx context.Context, id session.SessionID, bodies ...session.Body) ([]session.Event, error) {
	if err := session.Check(true, bodies...); err != nil {
		return nil, err
	}
	return s.append(ctx, id, noEpoch, session.Stamp{}, bodies)
}

// noEpoch is the epoch of those who need no lease.
const noEpoch = -1

// append makes entries of bodies, provided that the lease has not changed hands since epoch.
func (s *Store) append(
	ctx context.Context, id session.SessionID, epoch int64, at session.Stamp, bodies []session.Body,
) ([]session.Event, error) {
	if err := session.Check(false, bodies...); err != nil {
		return nil, err
	}
	events, encoded, err := encode(at, bodies)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, "append to", mustSync(bodies), func(t *txn) error {
		row, err := t.session(id, epoch)
		if err != nil || len(events) == 0 {
			return err
		}
		if err := row.link(t, events); err != nil {
			return err
		}
		for i, e := range events {
			if err := t.insert(row.key, e, encoded[i]); err != nil {
				return err
			}
		}
		t.changed = id
		return row.update(t)
	})
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return events, nil
}

// mustSync reports whether one of the bodies has to be on the disk before anything else happens.
func mustSync(bodies []session.Body) bool {
	for _, b := range bodies {
		switch b := b.(type) {
		case session.RunEnded:
			return true
		case session.CallStarted:
			if !b.Again {
				return true
			}
		}
	}
	return false
}

// encode makes events of bodies, without a place yet, and encodes the bodies. It needs no turn.
func encode(at session.Stamp, bodies []session.Body) (events []session.Event, encoded [][]byte, err error) {
	now := session.Now()
	events, encoded = make([]session.Event, len(bodies)), make([][]byte, len(bodies))
	for i, b := range bodies {
		if _, encoded[i], err = session.EncodeBody(b); err != nil {
			return nil, nil, err
		}
		events[i] = session.Event{ID: session.NewID(), Run: at.Run, Turn: at.Turn, Time: now, Body: b}
	}
	return events, encoded, nil
}

// row is what an append has to know of a session, and changes.
type row struct {
	id  session.SessionID
	key int64
	seq int64
	tip session.ID
	sum session.Summary // Usage and Messages are those of the append alone
}

// session reads the row of a session whose lease has not changed hands since epoch.
func (t *txn) session(id session.SessionID, epoch int64) (row, error) {
	r := row{id: id}
	var now holder
	err := t.row(`SELECT key, epoch, token, owner, seq, tip, title, named, model FROM sessions WHERE id = ?`,
		[]any{string(id)}, &r.key, &now.epoch, &now.token, &now.owner,
		&r.seq, (*string)(&r.tip), &r.sum.Title, &r.sum.Named, &r.sum.Model)
	switch {
	case errors.Is(err, sql.ErrNoRows) && epoch != noEpoch: // only a session without a living writer is deleted
		return r, &session.FencedError{Session: id}
	case errors.Is(err, sql.ErrNoRows):
		return r, noSession(id)
	case err == nil && epoch != noEpoch && epoch != now.epoch:
		return r, &session.FencedError{Session: id, Owner: now.owner}
	}
	return r, err
}

// link gives events their places, after the last entry and from the tip of the branch on.
func (r *row) link(t *txn, events []session.Event) error {
	for i := range events {
		e := &events[i]
		r.seq++
		e.Seq = r.seq
		if session.OnBranch(e.Body) {
			e.Parent = r.tip
			if h, ok := e.Body.(session.Head); ok {
				if _, err := findOnBranch(t, r.id, r.key, h.To); err != nil {
					return err
				}
				e.Parent = h.To
			}
			r.tip = e.ID
		}
		r.sum.Add(*e)
	}
	return nil
}

// finder runs a prepared query for one row.
type finder interface {
	row(text string, args []any, dest ...any) error
}

// findOnBranch returns the sequence number of an entry on a branch.
func findOnBranch(q finder, id session.SessionID, key int64, entry session.ID) (int64, error) {
	var at int64
	err := q.row(`SELECT place FROM entries WHERE id = ? AND place BETWEEN ? AND ? AND (parent <> '' OR place = ?)`,
		[]any{string(entry), place(key, 1), lastPlace(key), place(key, 1)}, &at)
	if errors.Is(err, sql.ErrNoRows) {
		err = noEntry(id, entry)
	}
	return seqOf(at), err
}

// insert writes an entry, and what it cost.
func (t *txn) insert(key int64, e session.Event, body []byte) error {
	at := place(key, e.Seq)
	if body == nil {
		body = []byte{}
	}
	if err := t.exec(`INSERT INTO entries (place, id, parent, run, turn, time, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		at, string(e.ID), string(e.Parent), string(e.Run), e.Turn, e.Time.UnixMicro(), e.Body.Kind(), body); err != nil {
		return err
	}
	m, ok := e.Body.(session.Message)
	if !ok || m.Role != llm.RoleAssistant || m.Usage == (llm.Usage{}) {
		return nil
	}
	u := m.Usage
	return t.exec(`INSERT INTO spending (time, place, model, input, cache_read, cache_write, output, reasoning, cost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Time.UnixMicro(), at, m.Model, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost)
}

// update writes the row back.
func (r *row) update(t *txn) error {
	sum := r.sum
	if err := t.exec(`UPDATE sessions SET seq = ?, tip = ?, updated = ?, title = ?, named = ?, messages = messages + ? WHERE key = ?`,
		r.seq, string(r.tip), sum.Updated.UnixMicro(), sum.Title, sum.Named, sum.Messages, r.key); err != nil {
		return err
	}
	u := sum.Usage
	if u == (llm.Usage{}) && sum.Messages == 0 {
		return nil
	}
	return t.exec(`UPDATE sessions SET model = ?, input = input + ?, cache_read = cache_read + ?, cache_write = cache_write + ?,
		output = output + ?, reasoning = reasoning + ?, cost = cost + ? WHERE key = ?`,
		sum.Model, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost, r.key)
}
