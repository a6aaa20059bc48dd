package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// audit computes the row and the usage of a session from its entries.
type audit struct {
	check  *check
	key    int64
	id     session.SessionID
	seq    int64 // of the last entry that was read
	tip    session.ID
	lostAt bool  // earlier entries are missing: the parent of the next entry is unknown
	base   int64 // place of the entry that a fork continues from
	sum    index.Summary
	broken bool // an entry is lost, so the sums are unknown
	agents map[session.RunID]string
	seen   map[session.ID]bool // entries on branches
	last   chain               // of the last entry
	said   []int64             // entries with text
	calls  []int64             // results of calls
}

func (a *audit) docsTo(seq int64) []int64 { return a.said[:upTo(a.said, seq)] }
func (a *audit) callsTo(seq int64) int    { return upTo(a.calls, seq) }

func upTo(list []int64, seq int64) int {
	n, _ := slices.BinarySearch(list, seq+1)
	return n
}

// report reports a problem of an entry.
func (a *audit) report(seq int64, part index.Part, fix func(*txn) error, format string, args ...any) error {
	a.broken = a.broken || fix == nil
	return a.check.report(index.Problem{Session: a.id, Seq: seq, Part: part, Text: fmt.Sprintf(format, args...)}, fix)
}

// read reads all entries, and then the row.
func (a *audit) read() (row stored, err error) {
	for before := int64(-1); before < a.seq; {
		before = a.seq
		if err := a.readOn(); err != nil {
			return row, err
		}
		// An append writes both at once. So a later row is ahead only of entries that were appended since, which are read next, or of
		// entries that are missing.
		if row, err = rowOf(a.check.store, a.key); err != nil || row.sum.Entries <= a.seq {
			return row, err
		}
	}
	return row, a.report(a.seq+1, index.PartEntries, nil, "entries %d to %d are missing at the end", a.seq+1, row.sum.Entries)
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
		if err := a.report(a.seq+1, index.PartEntries, nil, "entries %d to %d are missing", a.seq+1, r.Seq-1); err != nil {
			return err
		}
		a.lostAt = true
	}
	linked := r.Seq != a.seq+1 || r.sum.follows(&a.last)
	a.seq, a.last = r.Seq, r.sum
	if r.broken != nil {
		if fixed, err := a.parentOf(r); fixed || err != nil {
			return err
		}
		a.lostAt = a.lostAt || r.Parent != ""
		if r.Parent != "" {
			a.seen[r.ID], a.tip = true, r.ID
		}
		return a.report(r.Seq, index.PartEntries, nil, "it cannot be read: %v", r.broken)
	}
	if !linked {
		if err := a.report(r.Seq, index.PartEntries, nil, "its checksum does not follow that of the entry before"); err != nil {
			return err
		}
	}
	return a.take(r)
}

// take takes an entry that can be read.
func (a *audit) take(r record) error {
	if err := a.parent(r); err != nil {
		return err
	}
	if b, ok := r.Body.(session.RunStarted); ok && r.Run != "" {
		a.agents[r.Run] = index.AgentOf(b)
	}
	a.sum.Add(r.Event)
	if len(search.Pieces(r.Body)) > 0 {
		a.said = append(a.said, r.Seq)
	}
	if row, ok := index.RowOf(r.Event, true); ok && row.Calls > 0 {
		a.calls = append(a.calls, r.Seq)
	} else if ok {
		return a.spent(r, row)
	}
	return nil
}

// parent compares the parent of an entry with the expected one.
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
				err = a.report(r.Seq, index.PartEntries, nil, "it continues from entry %q, which is missing", b.To)
			}
			return err
		}
	default:
		if r.OnBranch() {
			want, known = a.tip, !a.lostAt
		}
	}
	if r.OnBranch() {
		a.seen[r.ID], a.tip, a.lostAt = true, r.ID, false
	}
	if !known || r.Parent == want {
		return nil
	}
	return a.report(r.Seq, index.PartEntries, nil, "its parent is entry %q, not %q", r.Parent, want)
}

// parentOf fixes the parent of an entry if only the parent is wrong, and takes the entry.
func (a *audit) parentOf(r record) (fixed bool, err error) {
	wrong, might := r.Parent, []session.ID{a.tip, ""}
	if b, err := session.DecodeBody(r.kind, r.raw); err == nil {
		switch b := b.(type) {
		case session.Head:
			might = append(might, b.To)
		case session.Created:
			might = append(might, b.From.Entry)
		}
	}
	for _, r.Parent = range might {
		at := place(a.key, r.Seq)
		if r.raw == nil || r.Parent == wrong || r.sum.verify(at, &r.Event, r.kind, r.raw) != nil {
			continue
		}
		if r.Body, err = session.DecodeBody(r.kind, r.raw); err != nil {
			return false, nil
		}
		err := a.report(r.Seq, index.PartEntries, func(t *txn) error {
			return t.exec(`UPDATE entries SET parent = ? WHERE place = ?`, string(r.Parent), at)
		}, "its parent is entry %q, not %q", wrong, r.Parent)
		if err == nil {
			r.broken = nil
			err = a.take(r)
		}
		return true, err
	}
	return false, nil
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

// origin finds the entry that a fork continues from.
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
		return a.report(r.Seq, index.PartFork, nil, "it continues from entry %q of session %s, which is missing", b.From.Entry, b.From.Session)
	}
	return err
}

// spent compares the usage of an entry with its row.
func (a *audit) spent(r record, want index.UsageRow) error {
	want.Agent = a.agents[r.Run]
	var got index.UsageRow
	u := &got.Usage
	at, us := place(a.key, r.Seq), r.Time.UnixMicro()
	var names int64
	var even, imported bool
	err := a.check.store.row(`SELECT model, agent, input, cache_read, cache_write, output, reasoning, cost, imported, names, parity = `+parity+`
		FROM spending WHERE time = ? AND place = ?`, []any{us, at}, &got.Model, &got.Agent,
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost, &imported, &names, &even)
	if err == nil && even && imported == r.Imported && names == namesOf(got.Model, got.Agent) && got.Model == want.Model && got.Agent == want.Agent && sameUsage(got.Usage, want.Usage) {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return a.report(r.Seq, index.PartSpending, func(t *txn) error {
		return t.spend(`INSERT OR REPLACE INTO spending`, at, &r.Event, want.Model, want.Agent, want.Usage)
	}, "its usage is not counted correctly")
}

// difference is a wrong value in a row.
type difference struct {
	part index.Part
	text string
}

// differences compares the row with the computed values.
func (a *audit) differences(row stored, aside int64) (list []difference) {
	want, got := a.sum, row.sum
	if row.tip != a.tip {
		list = append(list, difference{index.PartTip, fmt.Sprintf("the branch ends at %q, not %q", a.tip, row.tip)})
	}
	if row.base != a.base || got.Fork != want.Fork {
		list = append(list, difference{index.PartFork, "its origin is not that of its first entry"})
	}
	same := sameUsage(want.Usage, got.Usage) && slices.Equal(want.Tags, got.Tags)
	want.Usage, want.Tags, got.Tags, want.Fork, got.Fork = got.Usage, nil, nil, false, false
	want.Owner, want.Parent = got.Owner, got.Parent // the row has neither
	if !same || row.aside != aside || fmt.Sprint(want) != fmt.Sprint(got) {
		list = append(list, difference{index.PartSummary, "the data of lists does not match its entries"})
	}
	if len(list) == 0 && (row.verify() != nil || !bytes.Equal(row.head, a.last.own())) {
		list = append(list, difference{index.PartSummary, "the checksum of its row differs"})
	}
	return list
}

// write fixes the row, also for entries that were appended meanwhile.
func (a *audit) write(t *txn) error {
	rows, err := t.later(a.key, a.seq)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.broken != nil {
			return nil // another process appends entries that this one cannot read
		}
		a.seq, a.last = r.Seq, r.sum
		if r.OnBranch() {
			a.tip = r.ID
		}
		a.sum.Add(r.Event)
	}
	row := stored{key: a.key, sum: a.sum, tip: a.tip, base: a.base, head: a.last.own()}
	if row.aside, err = a.aside(t); err != nil {
		return err
	}
	_, err = row.save(t, nil)
	return err
}

// aside computes the column of that name from the entries that were read.
func (a *audit) aside(q finder) (sum int64, err error) {
	err = q.row(asideSum+`NOT INDEXED `+asideOnly, []any{place(a.key, 1), place(a.key, a.seq)}, &sum)
	return sum, err
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
