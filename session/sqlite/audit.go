package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// audit computes anew what can be computed of a session from its entries.
type audit struct {
	check  *check
	key    int64
	id     session.SessionID
	seq    int64 // of the last entry that was read
	tip    session.ID
	lostAt bool  // entries before are missing: the next one's parent is not known
	base   int64 // where a fork goes on
	sum    session.Summary
	broken bool // something is lost, so that sums are not known
	agents map[session.RunID]string
	seen   map[session.ID]bool // entries on branches
	said   []int64             // entries that the index has, and
	calls  []int64             // results of calls in it
}

func (a *audit) docsTo(seq int64) []int64 { return a.said[:upTo(a.said, seq)] }
func (a *audit) callsTo(seq int64) int    { return upTo(a.calls, seq) }

func upTo(list []int64, seq int64) int {
	n, _ := slices.BinarySearch(list, seq+1)
	return n
}

// tell tells of something wrong with an entry.
func (a *audit) tell(seq int64, part session.Part, mend func(*txn) error, format string, args ...any) error {
	a.broken = a.broken || mend == nil
	return a.check.tell(session.Problem{Session: a.id, Seq: seq, Part: part, Text: fmt.Sprintf(format, args...)}, mend)
}

// read reads all entries there are, and the row as it was then or later.
func (a *audit) read() (row stored, err error) {
	for before := int64(-1); before < a.seq; {
		before = a.seq
		if err := a.readOn(); err != nil {
			return row, err
		}
		// An append writes both at once. So a row that was read later is ahead only of entries that were appended since, and those are read
		// next, or of ones that are missing; and it is never behind.
		if row, err = storedOf(a.check.store, a.key); err != nil || row.sum.Entries <= a.seq {
			return row, err
		}
	}
	return row, a.tell(a.seq+1, session.PartEntries, nil, "entries %d to %d are missing at the end", a.seq+1, row.sum.Entries)
}

// readOn reads the entries after the last one that was read.
func (a *audit) readOn() error {
	c := a.check
	for {
		if err := c.store.ended(c.ctx); err != nil {
			return err
		}
		records, err := c.store.records(a.key, a.seq, 1<<seqBits-1)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, r := range records {
			if err := a.entry(r); err != nil {
				return err
			}
		}
	}
}

// entry takes the next entry.
func (a *audit) entry(r record) error {
	if r.Seq != a.seq+1 {
		if err := a.tell(a.seq+1, session.PartEntries, nil, "entries %d to %d are missing", a.seq+1, r.Seq-1); err != nil {
			return err
		}
		a.lostAt = true
	}
	a.seq = r.Seq
	if r.broken != nil {
		a.lostAt = a.lostAt || r.Parent != ""
		if r.Parent != "" {
			a.seen[r.ID], a.tip = true, r.ID
		}
		return a.tell(r.Seq, session.PartEntries, nil, "it cannot be read: %v", r.broken)
	}
	if err := a.parent(r); err != nil {
		return err
	}
	if b, ok := r.Body.(session.RunStarted); ok && r.Run != "" {
		a.agents[r.Run] = session.AgentOf(b)
	}
	a.sum.Add(r.Event)
	if len(search.Pieces(r.Body)) > 0 {
		a.said = append(a.said, r.Seq)
	}
	if row, ok := session.RowOf(r.Event, true); ok && row.Calls > 0 {
		a.calls = append(a.calls, r.Seq)
	} else if ok {
		return a.spent(r, row)
	}
	return nil
}

// parent compares an entry's parent with the one that it should have.
func (a *audit) parent(r record) error {
	want, known := session.ID(""), true
	switch b := r.Body.(type) {
	case session.Created:
		if b.Fork {
			want = b.From.Entry
			if err := a.origin(r, b); err != nil {
				return err
			}
		}
	case session.Head:
		want = b.To
		if ok, err := a.reaches(b.To); err != nil || !ok {
			if err == nil {
				err = a.tell(r.Seq, session.PartEntries, nil, "it goes back to entry %q, which is missing", b.To)
			}
			return err
		}
	default:
		if session.OnBranch(r.Body) {
			want, known = a.tip, !a.lostAt
		}
	}
	if session.OnBranch(r.Body) {
		a.seen[r.ID], a.tip, a.lostAt = true, r.ID, false
	}
	if !known || r.Parent == want {
		return nil
	}
	return a.tell(r.Seq, session.PartEntries, func(t *txn) error {
		return t.exec(`UPDATE entries SET parent = ? WHERE place = ?`, string(want), place(a.key, r.Seq))
	}, "it stands after entry %q, not %q", r.Parent, want)
}

// reaches reports whether a head may lead to an entry.
func (a *audit) reaches(entry session.ID) (bool, error) {
	if a.seen[entry] || a.base == 0 {
		return a.seen[entry], nil
	}
	var at int64
	err := a.check.store.row(`SELECT place FROM entries WHERE id = ? AND place BETWEEN ? AND ?`,
		[]any{string(entry), place(keyOf(a.base), 1), a.base}, &at)
	if !errors.Is(err, sql.ErrNoRows) {
		return err == nil, err
	}
	_, err = locate(a.check.store, a.id, keyOf(a.base), entry)
	if errors.Is(err, session.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// origin finds where a fork goes on.
func (a *audit) origin(r record, b session.Created) error {
	err := a.check.store.row(`SELECT base FROM sessions WHERE key = ?`, []any{a.key}, &a.base)
	if err != nil {
		return err
	}
	var id string
	err = a.check.store.row(`SELECT id FROM entries WHERE place = ?`, []any{a.base}, &id)
	if err == nil && id == string(b.From.Entry) {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	// The row is wrong: the entry has the ID, and is the first with it.
	err = a.check.store.row(`SELECT place FROM entries WHERE id = ? AND (parent <> '' OR (place & ?) = 1) ORDER BY place LIMIT 1`,
		[]any{string(b.From.Entry), int64(1)<<seqBits - 1}, &a.base)
	if errors.Is(err, sql.ErrNoRows) {
		return a.tell(r.Seq, session.PartFork, nil, "it goes on from entry %q of session %s, which is missing", b.From.Entry, b.From.Session)
	}
	return err
}

// spent compares what an entry consumed with the row about it.
func (a *audit) spent(r record, want session.UsageRow) error {
	want.Agent = a.agents[r.Run]
	var got session.UsageRow
	u := &got.Usage
	at, us := place(a.key, r.Seq), r.Time.UnixMicro()
	err := a.check.store.row(`SELECT model, agent, input, cache_read, cache_write, output, reasoning, cost FROM spending
		WHERE time = ? AND place = ?`, []any{us, at}, &got.Model, &got.Agent,
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost)
	if err == nil && got.Model == want.Model && got.Agent == want.Agent && sameUsage(got.Usage, want.Usage) {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return a.tell(r.Seq, session.PartSpending, func(t *txn) error {
		u := want.Usage
		return t.exec(`INSERT OR REPLACE INTO spending (time, place, model, agent, input, cache_read, cache_write, output, reasoning, cost)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			us, at, want.Model, want.Agent, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost)
	}, "what it consumed is not counted as it should be")
}

// difference is something in a row that is not what it should be.
type difference struct {
	part session.Part
	text string
}

// differences compares the row with what was computed.
func (a *audit) differences(row stored) (list []difference) {
	want, got := a.sum, row.sum
	if row.tip != a.tip {
		list = append(list, difference{session.PartTip, fmt.Sprintf("the branch ends at %q, not %q", a.tip, row.tip)})
	}
	if row.base != a.base || got.Fork != want.Fork {
		list = append(list, difference{session.PartFork, "where it goes on from is not what its first entry says"})
	}
	same := sameUsage(want.Usage, got.Usage) && slices.Equal(want.Tags, got.Tags)
	want.Usage, want.Tags, got.Tags, want.Fork, got.Fork = got.Usage, nil, nil, false, false
	if !same || fmt.Sprint(want) != fmt.Sprint(got) {
		list = append(list, difference{session.PartSummary, "what lists show is not what its entries say"})
	}
	return list
}

// write puts the row right, with what was appended meanwhile.
func (a *audit) write(t *txn) error {
	rows, err := t.later(a.key, a.seq)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.broken != nil {
			return nil // another process writes what this one cannot read: nothing is known
		}
		a.seq = r.Seq
		if session.OnBranch(r.Body) {
			a.tip = r.ID
		}
		a.sum.Add(r.Event)
	}
	s, u := a.sum, a.sum.Usage
	return t.exec(`UPDATE sessions SET seq = ?, tip = ?, title = ?, named = ?, dir = ?, model = ?, created = ?, updated = ?,
			from_session = ?, from_entry = ?, messages = ?, runs = ?, input = ?, cache_read = ?, cache_write = ?, output = ?, reasoning = ?,
			cost = ?, base = ?, tags = ?, deleted = ? WHERE key = ?`,
		s.Entries, string(a.tip), s.Title, s.Named, s.Dir, s.Model, s.Created.UnixMicro(), s.Updated.UnixMicro(),
		string(s.From.Session), string(s.From.Entry), s.Messages, s.Runs, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning,
		u.Cost, a.base, string(packTags(s.Tags)), microOrNever(s.Deleted), a.key)
}

// later returns the entries of a session after a number, as the transaction sees them.
func (t *txn) later(key, after int64) ([]record, error) {
	stmt, err := t.stmt(columns + `WHERE place > ? AND place <= ? ORDER BY place`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query(place(key, after), lastPlace(key))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return scanRecords(rows, 1<<62)
}
