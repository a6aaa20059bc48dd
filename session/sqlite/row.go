package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// stored is a row of sessions.
type stored struct {
	key   int64
	epoch int64
	token string // of the holder of the lease
	sum   index.Summary
	tip   session.ID
	base  int64
	aside int64  // sum of the numbers of the entries aside of every branch
	head  []byte // checksum of the newest entry
	mark  []byte // checksum of the row
}

const selectRow = `SELECT key, epoch, token, owner, id, title, named, dir, model, created, updated, seq, messages, runs,
		input, cache_read, cache_write, output, reasoning, cost, from_session, from_entry, base, tags, deleted, tip, aside, head, mark
	FROM sessions `

// scan reads a row.
func (r *stored) scan(row scanner) error {
	var created, updated, deleted int64
	var packed tags
	s, u := &r.sum, &r.sum.Usage
	err := row.Scan(&r.key, &r.epoch, &r.token, &s.Owner, (*string)(&s.ID), &s.Title, &s.Named, &s.Dir, &s.Model, &created, &updated,
		&s.Entries, &s.Messages, &s.Runs, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost,
		(*string)(&s.From.Session), (*string)(&s.From.Entry), &r.base, (*string)(&packed), &deleted, (*string)(&r.tip), &r.aside, &r.head, &r.mark)
	if err != nil {
		return err
	}
	s.Created, s.Updated, s.Deleted = fromMicroOrNever(created), fromMicroOrNever(updated), fromMicroOrNever(deleted)
	s.Fork = r.base != 0
	if s.Tags, err = packed.list(); err != nil {
		s.Tags = []string{"\x00"} // no entry has this tag
	}
	return nil
}

// verify compares the row with its checksum.
func (r *stored) verify() error {
	if bytes.Equal(r.mark, r.markOf()) {
		return nil
	}
	return fmt.Errorf("session %s: %w: its row has another checksum; run tenon sessions check --repair", r.sum.ID, session.ErrCorrupt)
}

// values are the columns that save writes.
func (r *stored) values() []any {
	s, u := &r.sum, &r.sum.Usage
	r.mark = r.markOf()
	return []any{
		string(s.ID), s.Title, s.Named, s.Dir, s.Model, microOrNever(s.Created), microOrNever(s.Updated), s.Entries, s.Messages, s.Runs,
		u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost, string(s.From.Session), string(s.From.Entry), r.base,
		string(packTags(s.Tags)), microOrNever(s.Deleted), string(r.tip), r.aside, r.head, r.mark,
	}
}

// save writes the row back, if the database still has the one that was; nil: any. Most appends change little of it.
func (r *stored) save(t *txn, was *stored) (same bool, err error) {
	const where = ` WHERE key = ? AND mark = ? AND epoch = ? AND kept = 0`
	var n int64
	switch {
	case was == nil:
		n, err = t.update(updateRow+` WHERE key = ?`, append(r.values(), r.key)...)
	case was.likely() == r.likely() && slices.Equal(was.sum.Tags, r.sum.Tags):
		r.mark = r.markOf()
		n, err = t.update(`UPDATE sessions SET updated = ?, seq = ?, messages = ?, tip = ?, aside = ?, head = ?, mark = ?`+where,
			microOrNever(r.sum.Updated), r.sum.Entries, r.sum.Messages, string(r.tip), r.aside, r.head, r.mark, r.key, was.mark, was.epoch)
	default:
		n, err = t.update(updateRow+where, append(r.values(), r.key, was.mark, was.epoch)...)
	}
	return n == 1, err
}

const updateRow = `UPDATE sessions SET id = ?, title = ?, named = ?, dir = ?, model = ?, created = ?, updated = ?, seq = ?, messages = ?,
		runs = ?, input = ?, cache_read = ?, cache_write = ?, output = ?, reasoning = ?, cost = ?, from_session = ?, from_entry = ?,
		base = ?, tags = ?, deleted = ?, tip = ?, aside = ?, head = ?, mark = ?`

// likely is the part of a row, without its tags, that most appends do not change.
type likely struct {
	usage        llm.Usage
	title, model string
	named        bool
	runs         int
	deleted      time.Time
	id           session.SessionID
}

func (r *stored) likely() likely {
	s := &r.sum
	return likely{s.Usage, s.Title, s.Model, s.Named, s.Runs, s.Deleted, s.ID}
}

// insert makes the row, and gives it its key.
func (r *stored) insert(t *txn) error {
	err := t.exec(`INSERT INTO sessions (id, seq, tip, head, mark) VALUES (?, 0, '', x'', x'')`, string(r.sum.ID))
	if err != nil {
		return err
	}
	return t.row(`SELECT key FROM sessions WHERE id = ?`, []any{string(r.sum.ID)}, &r.key)
}

// current reads the row of a session, from memory if it is there as the database has it.
func (t *txn) current(id session.SessionID) (stored, error) {
	r := t.rows[id]
	var mark []byte
	err := t.row(`SELECT epoch, token, owner, mark FROM sessions WHERE id = ? AND kept = 0`, []any{string(id)},
		&r.epoch, &r.token, &r.sum.Owner, &mark)
	if err == nil && len(mark) > 0 && bytes.Equal(mark, r.mark) {
		return r, nil
	}
	if r, err = rowNamed(t, id); err == nil {
		err = r.verify()
	}
	return r, err
}

// maxRows bounds how many rows are remembered.
const maxRows = 1000

// remember keeps a row in memory. If its transaction is undone, the database has another checksum.
func (t *txn) remember(r stored) {
	if t.rows == nil || len(t.rows) >= maxRows {
		t.rows = map[session.SessionID]stored{}
	}
	t.rows[r.sum.ID] = r
}

// rowScanner is one row that a finder finds.
type rowScanner struct {
	find finder
	text string
	arg  any
}

func (q rowScanner) Scan(dest ...any) error { return q.find.row(q.text, []any{q.arg}, dest...) }

// rowOf reads the row of a session by its key, rowNamed by its ID. They do not verify it.
func rowOf(q finder, key int64) (r stored, err error) {
	err = r.scan(rowScanner{q, selectRow + `WHERE key = ?`, key})
	return r, err
}

func rowNamed(q finder, id session.SessionID) (r stored, err error) {
	err = r.scan(rowScanner{q, selectRow + `WHERE id = ? AND kept = 0`, string(id)})
	if errors.Is(err, sql.ErrNoRows) {
		err = noSession(id)
	}
	return r, err
}
