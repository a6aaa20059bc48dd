package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/tenon-agent/tenon/session"
)

// Entries are read in batches, and none is held in a query while the caller looks at it: a query that lasts keeps SQLite
// from tidying its log.
const (
	batchRows  = 256
	batchBytes = 1 << 20 // of bodies; a single one may be larger
)

const columns = `SELECT place, id, parent, run, turn, time, kind, body FROM entries `

// batch collects the entries of a query until there are enough. keep says of each whether it is wanted, and whether to
// go on after it; it is asked before the body is decoded.
func (s *Store) batch(
	id session.SessionID, keep func(session.Event) (want, more bool), query string, args ...any,
) ([]session.Event, error) {
	rows, err := s.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var (
		events []session.Event
		at, us int64
		kind   string
		body   sql.RawBytes
	)
	for size := 0; size < batchBytes && rows.Next(); {
		var e session.Event
		if err := rows.Scan(&at, (*string)(&e.ID), (*string)(&e.Parent), (*string)(&e.Run), &e.Turn, &us, &kind, &body); err != nil {
			return nil, err
		}
		e.Seq, e.Time = seqOf(at), fromMicro(us)
		want, more := keep(e)
		if want {
			if e.Body, err = session.DecodeBody(kind, body); err != nil {
				if len(events) > 0 {
					return events, nil // these can be read: the next batch begins with what cannot be
				}
				return nil, s.damaged(id, e.Seq, err)
			}
			events = append(events, e)
			size += len(body)
		}
		if !more {
			break
		}
	}
	return events, rows.Err()
}

func keepAll(session.Event) (want, more bool) { return true, true }

// find returns the key of a session, its last sequence number and the tip of its current branch.
func (s *Store) find(ctx context.Context, id session.SessionID) (key, seq int64, tip session.ID, err error) {
	if err := s.ended(ctx); err != nil {
		return 0, 0, "", err
	}
	err = s.row(`SELECT key, seq, tip FROM sessions WHERE id = ? AND kept = 0`, []any{string(id)}, &key, &seq, (*string)(&tip))
	if errors.Is(err, sql.ErrNoRows) {
		err = noSession(id)
	}
	return key, seq, tip, s.fail("read", err)
}

// Read implements [session.Store].
func (s *Store) Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		if len(kinds) > 0 {
			s.pick(ctx, id, yield, 1, columns+between+ofKinds+inOrder, max(after, 0), kinds) // often the next one is all that is wanted
			return
		}
		_, _ = s.read(ctx, id, max(after, 0), yield)
	}
}

// A limit in a query is not a parameter alone, but 0 and the parameter: SQLite plans for the value of a bare one, and prepares the
// statement anew whenever it is bound, which takes longer than most queries.

// The parts of a query for some entries of a session. Other columns than the body are read before it, so a body that is not
// wanted is not even fetched.
const (
	between = `WHERE place > ?1 AND place <= ?2 `
	ofKinds = `AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3))) `
	inOrder = `ORDER BY place LIMIT 0 + ?4`
)

// pick yields the entries that a query selects, after a sequence number and up to the last there is now. The first batch has at most so
// many rows, and further ones more and more.
func (s *Store) pick(
	ctx context.Context, id session.SessionID, yield func(session.Event, error) bool, rows int, query string, after int64, kinds []string,
) {
	var list any // NULL: all kinds
	if len(kinds) > 0 {
		text, err := json.Marshal(kinds)
		if err != nil {
			panic(err) // strings can be encoded
		}
		list = string(text)
	}
	key, until, _, err := s.find(ctx, id)
	for err == nil {
		var events []session.Event
		events, err = s.batch(id, keepAll, query, place(key, after), place(key, until), list, rows)
		if err == nil && len(events) == 0 {
			if _, _, _, err = s.find(ctx, id); err == nil { // it was not purged meanwhile
				return
			}
		}
		for _, e := range events {
			if err = s.ended(ctx); err == nil && e.Seq <= after {
				err = s.damaged(id, e.Seq, fmt.Errorf("it follows entry %d", after))
			}
			if err != nil {
				break
			}
			if !yield(e, nil) {
				return
			}
			after = e.Seq
		}
		rows = min(2*rows, batchRows)
	}
	yield(session.Event{}, s.fail("read", err))
}

// read yields the entries after a sequence number up to the last there is now. It returns the number of the last that was
// yielded, and whether to go on: not after an error, and not when the consumer left.
func (s *Store) read(
	ctx context.Context, id session.SessionID, after int64, yield func(session.Event, error) bool,
) (last int64, more bool) {
	key, until, _, err := s.find(ctx, id)
	for err == nil && after < until {
		var events []session.Event
		if events, err = s.page(ctx, id, key, after, until); err != nil {
			break
		}
		for _, e := range events {
			if err = s.ended(ctx); err != nil {
				break
			}
			if !yield(e, nil) {
				return after, false
			}
			after = e.Seq
		}
	}
	if err != nil {
		yield(session.Event{}, err)
		return after, false
	}
	return after, true
}

// page returns the next entries after a number, at least one.
func (s *Store) page(ctx context.Context, id session.SessionID, key, after, until int64) ([]session.Event, error) {
	next := after
	missing := false
	events, err := s.batch(id, func(e session.Event) (bool, bool) {
		next++
		missing = e.Seq != next
		return !missing, !missing
	}, columns+`WHERE place > ? AND place <= ? ORDER BY place LIMIT 0 + ?`, place(key, after), place(key, until), batchRows)
	if err == nil && (missing || len(events) == 0) {
		if _, _, _, err = s.find(ctx, id); err == nil { // it was not purged meanwhile
			err = s.damaged(id, after+int64(len(events))+1, errors.New("it is missing"))
		}
	}
	return events, s.fail("read", err)
}

// Backward implements [session.Store].
func (s *Store) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		var from int64 // the entry that names leaf; 0: the caller does
		key, seq, tip, err := s.find(ctx, id)
		if err == nil && leaf == "" {
			leaf, from = tip, seq
		}
		before := int64(math.MaxInt64)
		rows := 32 // who wants the end of a branch often wants no more of it
		for err == nil {
			var events []session.Event
			if events, key, err = s.upward(ctx, id, key, leaf, from, rows); err != nil {
				break
			}
			for _, e := range events {
				if err = s.ended(ctx); err == nil && place(key, e.Seq) >= before {
					err = s.damaged(id, e.Seq, errors.New("the branch comes to it again"))
				}
				if err != nil {
					break
				}
				if !yield(e, nil) || e.Parent == "" {
					return
				}
				before = place(key, e.Seq)
				leaf, from = e.Parent, e.Seq
			}
			rows = batchRows
		}
		yield(session.Event{}, err)
	}
}

// upward returns the entry leaf and those before it on its branch, newest first, as far as they lie close together, and the key
// of the session that they lie in: that with the given key, or one that it inherited from. It is damage when leaf is
// missing although entry from names it.
func (s *Store) upward(
	ctx context.Context, id session.SessionID, key int64, leaf session.ID, from int64, rows int,
) ([]session.Event, int64, error) {
	at, err := locate(s, id, key, leaf)
	if errors.Is(err, session.ErrNotFound) {
		if _, _, _, gone := s.find(ctx, id); gone != nil {
			return nil, 0, gone
		}
		if from > 0 {
			return nil, 0, s.damaged(id, from, fmt.Errorf("entry %q before it is missing", leaf))
		}
	}
	if err != nil {
		return nil, 0, s.fail("read", err)
	}
	key = keyOf(at)
	want := leaf
	events, err := s.batch(id, func(e session.Event) (bool, bool) {
		if e.ID == want {
			want = e.Parent
			return true, want != ""
		}
		return false, e.Parent == "" // hangs on no branch; any other begins a stretch of another branch
	}, columns+`WHERE place <= ? AND place >= ? ORDER BY place DESC LIMIT 0 + ?`, at, place(key, 1), rows)
	if err == nil && len(events) == 0 { // it was there a moment ago
		err = noEntry(id, leaf)
	}
	return events, key, s.fail("read", err)
}

// Annotations implements [session.Store].
func (s *Store) Annotations(ctx context.Context, id session.SessionID, kinds ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		// The first entry is the root, which has no parent either.
		s.pick(ctx, id, yield, batchRows, columns+between+`AND parent = '' `+ofKinds+inOrder, 1, kinds)
	}
}
