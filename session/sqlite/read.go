package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Entries are read in batches, and no query is open while the caller handles them: an open query keeps SQLite from truncating its log.
const (
	batchRows  = 256
	batchBytes = 1 << 20 // of bodies; a single one may be larger
)

const columns = `SELECT place, id, parent, run, turn, time, kind, imported, sum, body FROM entries `

// batch collects the entries of a query until there are enough. keep reports whether to include an entry, and whether to continue after it,
// before its body is decoded.
func (s *reader) batch(
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
		sum    sql.RawBytes
		body   sql.RawBytes
		link   chain // of this row, and of the one before
		last   chain
		lastAt int64
	)
	for size := 0; size < batchBytes && rows.Next(); {
		var e session.Event
		if err := rows.Scan(&at, (*string)(&e.ID), (*string)(&e.Parent), (*string)(&e.Run), &e.Turn, &us, &kind, &e.Imported, &sum, &body); err != nil {
			return nil, err
		}
		e.Seq, e.Time = seqOf(at), fromMicro(us)
		link.scanned(sum)
		broken := at == lastAt+1 && !link.follows(&last) || at == lastAt-1 && !last.follows(&link)
		last, lastAt = link, at
		want, more := keep(e)
		if want {
			if err = link.verify(at, &e, kind, body); err == nil && broken {
				err = errSum
			}
			if err == nil {
				e.Body, err = session.DecodeBody(kind, body)
			}
			if err != nil {
				if len(events) > 0 {
					return events, nil // the next batch begins with the damaged entry
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

// find reads the row of a session, and verifies it.
func (s *reader) find(ctx context.Context, id session.SessionID) (stored, error) {
	if err := s.ended(ctx); err != nil {
		return stored{}, err
	}
	r, err := rowNamed(s, id)
	if err == nil {
		err = cmp.Or(r.verify(), s.whole(&r))
	}
	return r, s.fail("read", err)
}

// Read implements [index.Store].
func (s *reader) Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		if len(kinds) > 0 {
			s.pick(ctx, id, yield, max(after, 0), kinds)
			return
		}
		_, _ = s.read(ctx, id, max(after, 0), yield)
	}
}

// aside reports whether all of these kinds are aside of every branch: an index has their entries.
func aside(kinds []string) bool {
	return !slices.ContainsFunc(kinds, func(kind string) bool {
		b, err := session.DecodeBody(kind, []byte(`{}`))
		return err != nil || session.Event{Body: b}.OnBranch()
	})
}

// A limit in a query is 0 + ?, not ? alone: SQLite plans for the value of a bare parameter, and prepares the statement again for each value,
// which takes longer than most queries.

// The parts of a query for the entries of some kinds. The body is the last column, so SQLite does not fetch the bodies of other entries. The
// kinds are those to leave out: so an entry whose kind is damaged is not left out, and its checksum shows the damage.
const (
	between = `WHERE place > ?1 AND place <= ?2 `
	ofKinds = `AND kind NOT IN (SELECT value FROM json_each(?3)) `
	inOrder = `ORDER BY place LIMIT 0 + ?4`
	byIndex = `INDEXED BY entries_off_branch `
)

// fewEntries are read as fast from the table as by the index.
const fewEntries = 100

// pick yields the entries of these kinds, after a sequence number and up to the current last one. It returns an error if damage hides entries:
// it counts those of the table, and compares those of the index with the row of the session.
func (s *reader) pick(
	ctx context.Context, id session.SessionID, yield func(session.Event, error) bool, after int64, kinds []string,
) {
	others := slices.DeleteFunc(session.Kinds(), func(kind string) bool { return slices.Contains(kinds, kind) })
	list, err := json.Marshal(others)
	if err != nil {
		panic(err) // strings can be encoded
	}
	r, err := s.find(ctx, id)
	whole := completeness{s, &r}
	until, query := r.sum.Entries, columns+between+ofKinds+inOrder
	indexed := err == nil && until-after > fewEntries && aside(kinds)
	if indexed {
		query = columns + byIndex + between + `AND parent = '' ` + ofKinds + inOrder
		err = whole.indexed(ctx)
	}
	rows := 1 // often the next entry is all that is wanted
	for err == nil {
		var events []session.Event
		events, err = s.batch(id, keepAll, query, place(r.key, after), place(r.key, until), string(list), rows)
		last := until
		if len(events) > 0 {
			last = events[len(events)-1].Seq
		}
		if err == nil && !indexed {
			err = whole.counted(ctx, after, last)
		}
		if err == nil && len(events) == 0 {
			return
		}
		for _, e := range events {
			if err = s.ended(ctx); err == nil && e.Seq <= after {
				err = s.damaged(id, e.Seq, fmt.Errorf("it follows entry %d", after))
			}
			if err != nil {
				break
			}
			if after = e.Seq; slices.Contains(kinds, e.Body.Kind()) && !yield(e, nil) {
				return
			}
		}
		rows = min(2*rows, batchRows)
	}
	yield(session.Event{}, s.fail("read", err))
}

// completeness compares the entries of a session that a query can find with its row.
type completeness struct {
	*reader
	row *stored
}

// counted returns an error if the table does not have all entries after a number and up to the last.
func (c completeness) counted(ctx context.Context, after, last int64) error {
	var n int64
	err := c.reader.row(`SELECT count(*) FROM entries `+between, []any{place(c.row.key, after), place(c.row.key, last)}, &n)
	return c.verdict(ctx, err, n == last-after)
}

// indexed returns an error if the index has not exactly the entries that are aside of every branch.
func (c completeness) indexed(ctx context.Context) error {
	var sum int64
	err := c.reader.row(asideSum+byIndex+asideOnly, []any{place(c.row.key, 1), place(c.row.key, c.row.sum.Entries)}, &sum)
	return c.verdict(ctx, err, sum == c.row.aside)
}

// verdict returns err, or an error if entries cannot be found and the session was not purged meanwhile.
func (c completeness) verdict(ctx context.Context, err error, found bool) error {
	if err != nil || found {
		return err
	}
	if _, err := c.find(ctx, c.row.sum.ID); err != nil {
		return err
	}
	return c.damaged(c.row.sum.ID, 0, errors.New("some of its entries cannot be found"))
}

// asideSum and asideOnly are a query for stored.aside, by the table or by the index. The first entry of a session has no parent either.
const (
	asideSum  = `SELECT coalesce(sum(place & 0xfffffffff), 0) FROM entries `
	asideOnly = between + `AND parent = ''`
)

// read yields the entries after a sequence number up to the current last one. It returns the number of the last one that it yielded, and
// false after an error or if the consumer left.
func (s *reader) read(
	ctx context.Context, id session.SessionID, after int64, yield func(session.Event, error) bool,
) (last int64, more bool) {
	r, err := s.find(ctx, id)
	for err == nil && after < r.sum.Entries {
		var events []session.Event
		if events, err = s.page(ctx, id, r.key, after, r.sum.Entries); err != nil {
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
func (s *reader) page(ctx context.Context, id session.SessionID, key, after, until int64) ([]session.Event, error) {
	next := after
	missing := false
	events, err := s.batch(id, func(e session.Event) (bool, bool) {
		next++
		missing = e.Seq != next
		return !missing, !missing
	}, columns+`WHERE place > ? AND place <= ? ORDER BY place LIMIT 0 + ?`, place(key, after), place(key, until), batchRows)
	if err == nil && (missing || len(events) == 0) {
		if _, err = s.find(ctx, id); err == nil { // it was not purged meanwhile
			err = s.damaged(id, after+int64(len(events))+1, errors.New("it is missing"))
		}
	}
	return events, s.fail("read", err)
}

// Backward implements [index.Store].
func (s *reader) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		var from int64 // the entry that names leaf; 0: the caller does
		r, err := s.find(ctx, id)
		key := r.key
		if err == nil && leaf == "" {
			leaf, from = r.tip, r.sum.Entries
		}
		before := int64(math.MaxInt64)
		rows := 8 // most readers want only the end of a branch
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
			rows = min(2*rows, batchRows)
		}
		yield(session.Event{}, err)
	}
}

// upward returns the entry leaf and earlier entries of its branch, newest first, as long as they are close together, and the key of their
// session: the given one, or one that it inherited from. If leaf is missing although entry from names it, the journal is damaged.
func (s *reader) upward(
	ctx context.Context, id session.SessionID, key int64, leaf session.ID, from int64, rows int,
) ([]session.Event, int64, error) {
	at, err := locate(s, id, key, leaf)
	if errors.Is(err, session.ErrNotFound) {
		if _, gone := s.find(ctx, id); gone != nil {
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

// Sessions implements [session.Log].
func (s *reader) Sessions(ctx context.Context) iter.Seq2[session.Listing, error] {
	return func(yield func(session.Listing, error) bool) {
		for _, trash := range []bool{false, true} {
			for sum, err := range s.List(ctx, index.Query{Deleted: trash}) {
				if !yield(session.Listing{ID: sum.ID, Owner: sum.Owner}, err) || err != nil {
					return
				}
			}
		}
	}
}
