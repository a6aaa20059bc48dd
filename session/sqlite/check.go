package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Check implements [index.Store]. It may run while other processes write sessions.
func (s *Store) Check(ctx context.Context, repair bool) iter.Seq2[index.Problem, error] {
	return func(yield func(index.Problem, error) bool) {
		c := &check{store: s, ctx: ctx, repair: repair, yield: yield, docs: map[int64]*audit{}}
		for _, step := range []func() error{c.file, c.orphans, c.sessions, c.ends, c.spending, c.blobs, c.index} {
			err := s.ended(ctx)
			if err == nil {
				err = c.unreadable("", step())
			}
			if errors.Is(err, errLeft) {
				return
			}
			if err != nil {
				yield(index.Problem{}, s.fail("check", err))
				return
			}
		}
	}
}

// errLeft reports that the consumer left.
var errLeft = errors.New("left")

// check is one run of Check.
type check struct {
	store  *Store
	ctx    context.Context
	repair bool
	yield  func(index.Problem, error) bool
	docs   map[int64]*audit // the expected index of each session
}

// Advice for people.
const (
	adviceRepair = "check with repair"
	adviceTry    = "check with repair; if that is not enough, " + adviceCopy
	adviceBack   = "restore a backup if you have one"
	adviceCopy   = adviceBack + "; else fork the session at the entry before the damage and continue there"
)

// report yields a problem. With repair it first calls fix; nil: the problem cannot be fixed.
func (c *check) report(p index.Problem, fix func(t *txn) error) error {
	switch {
	case fix == nil:
		p.Lost = true
		if p.Advice == "" {
			p.Advice = adviceCopy
		}
	case c.repair:
		if err := c.store.write(c.ctx, "repair", true, fix); err != nil {
			return err
		}
		p.Fixed, p.Advice = true, ""
	default:
		p.Advice = cmp.Or(p.Advice, adviceRepair)
	}
	if !c.yield(p, nil) {
		return errLeft
	}
	return nil
}

// file lets SQLite check the file: pages, tables and their indexes.
func (c *check) file() error {
	said, err := c.integrity()
	if err != nil || said == "" {
		return err
	}
	p := index.Problem{Part: index.PartFile, Text: said}
	if !strings.Contains(said, "index") {
		return c.report(p, nil)
	}
	if strings.Contains(said, "Tree") { // of an index, perhaps, or of a table
		p.Advice = adviceTry
	}
	err = c.report(p, func(t *txn) error { return t.exec(`REINDEX`) })
	if err != nil || !c.repair {
		return err
	}
	if said, err = c.integrity(); err != nil || said == "" {
		return err
	}
	return c.report(index.Problem{Part: index.PartFile, Text: said}, nil)
}

// integrity returns the first problems that SQLite finds in the file.
func (c *check) integrity() (string, error) {
	rows, err := c.store.readers.QueryContext(c.ctx, `PRAGMA integrity_check(5)`)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var said []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return "", err
		}
		said = append(said, strings.Split(line, "\n")...)
	}
	if err := rows.Err(); err != nil || len(said) == 1 && said[0] == "ok" {
		return "", err
	}
	return strings.Join(said[:min(len(said), 5)], "; "), nil
}

// orphans finds entries without a row of their session.
func (c *check) orphans() error {
	for at := int64(-1); ; {
		err := c.store.row(`SELECT place FROM entries WHERE place > ? ORDER BY place LIMIT 1`, []any{at}, &at)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		key := keyOf(at)
		at = lastPlace(key)
		var id string
		if err := c.store.row(`SELECT id FROM sessions WHERE key = ?`, []any{key}, &id); !errors.Is(err, sql.ErrNoRows) {
			if err != nil {
				return err
			}
			continue
		}
		records, err := c.store.records(key, 0, 1)
		if err != nil {
			return err
		}
		p := index.Problem{Part: index.PartSummary, Text: "entries of a session that is not listed"}
		if len(records) == 0 || records[0].ID == "" {
			if err := c.report(p, nil); err != nil {
				return err
			}
			continue
		}
		p.Session = records[0].ID
		err = c.report(p, func(t *txn) error { // the next step computes the row
			return t.exec(`INSERT OR IGNORE INTO sessions (key, id, seq, tip, head, mark)
				VALUES (?, ?, (SELECT max(place) FROM entries WHERE place BETWEEN ? AND ?) - ?, ?, x'', x'')`,
				key, string(p.Session), place(key, 1), lastPlace(key), place(key, 0), string(p.Session))
		})
		if err != nil {
			return err
		}
	}
}

// sessions checks one after the other.
func (c *check) sessions() error {
	for key := int64(0); ; {
		err := c.store.row(`SELECT key FROM sessions WHERE key > ? AND kept = 0 ORDER BY key LIMIT 1`, []any{key}, &key)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.session(key); err != nil {
			return err
		}
	}
}

// remark reports a row with a wrong checksum, of a session whose row cannot be computed.
func (c *check) remark(row stored) error {
	if row.verify() == nil {
		return nil
	}
	p := index.Problem{Session: row.sum.ID, Part: index.PartSummary, Text: "the checksum of its row differs"}
	return c.report(p, nil)
}

// ends compares the last entries of sessions with heads.
func (c *check) ends() error {
	h := &c.store.heads
	for _, want := range h.all() {
		row, err := rowOf(c.store, want.key)
		if errors.Is(err, sql.ErrNoRows) || err == nil && shortID(row.sum.ID) != shortID(want.id) {
			row, err = stored{key: want.key, sum: index.Summary{ID: want.id}}, nil
		}
		if err != nil {
			return err
		}
		first, last := row.sum.Entries+1, h.expects(want)
		if now, known := h.of(want.key, want.id); !known || last < first || now.seq != want.seq {
			continue // purged or appended to meanwhile, or nothing is missing
		}
		p := index.Problem{
			Session: want.id, Seq: first, Part: index.PartEntries, Lost: true, Advice: adviceBack + "; or check with repair to accept the loss",
			Text: fmt.Sprintf("entries %d to %d were written, and are missing at the end", first, last),
		}
		err = c.report(p, func(*txn) error {
			h.keep(headOf(&row), true)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unreadable reports pages that cannot be read, so that the check continues. It returns any other error.
func (c *check) unreadable(id session.SessionID, err error) error {
	if _, cause := classify(err); !errors.Is(cause, session.ErrCorrupt) {
		return err
	}
	p := index.Problem{Session: id, Part: index.PartFile, Text: fmt.Sprintf("not all of it can be read: %v", err)}
	if id != "" {
		p.Part = index.PartEntries
	}
	return c.report(p, nil)
}

func (c *check) session(key int64) error {
	row, err := rowOf(c.store, key)
	if errors.Is(err, sql.ErrNoRows) { // purged meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	a := &audit{check: c, key: key, id: row.sum.ID, agents: map[session.RunID]string{}, seen: map[session.ID]bool{}}
	a.sum.ID = row.sum.ID
	c.docs[key] = a
	row, err = a.read()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		delete(c.docs, key) // its expected index is unknown
		return c.unreadable(a.id, err)
	}
	if a.broken {
		return c.remark(row) // the computed row is not the right one
	}
	aside, err := a.aside(c.store)
	if err != nil {
		return err
	}
	for _, d := range a.differences(row, aside) {
		p := index.Problem{Session: row.sum.ID, Part: d.part, Text: d.text}
		if err := c.report(p, func(t *txn) error { return a.write(t) }); err != nil {
			return err
		}
	}
	return nil
}

// spending finds rows of usage without an entry, and sessions that lost entries and count the usage of these. The audits have compared the row
// of each entry.
func (c *check) spending() error {
	var extra int
	const without = `FROM spending WHERE NOT EXISTS (
		SELECT 1 FROM entries e WHERE e.place = spending.place AND e.time = spending.time AND e.kind IN ('message', 'summary', 'title', 'note'))`
	if err := c.store.row(`SELECT count(*) `+without, nil, &extra); err != nil {
		return err
	}
	if extra > 0 {
		p := index.Problem{Part: index.PartSpending, Text: fmt.Sprintf("%d rows of usage belong to no entry", extra)}
		if err := c.report(p, func(t *txn) error { return t.exec(`DELETE ` + without) }); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.docs)) {
		if a := c.docs[key]; a.broken {
			if err := c.total(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// total compares the usage in the row of a session that lost entries with the rows of usage that are left.
func (c *check) total(a *audit) error {
	row, err := rowOf(c.store, a.key)
	if err != nil || row.verify() != nil {
		return err
	}
	sum := func(q finder) (u llm.Usage, err error) {
		err = q.row(`SELECT coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0), coalesce(sum(output), 0),
				coalesce(sum(reasoning), 0), coalesce(sum(cost), 0.0) FROM spending WHERE place BETWEEN ? AND ?`,
			[]any{place(a.key, 1), lastPlace(a.key)}, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost)
		return u, err
	}
	if u, err := sum(c.store); err != nil || sameUsage(u, row.sum.Usage) {
		return err
	}
	p := index.Problem{Session: a.id, Part: index.PartSummary, Text: "it counts the usage of entries that are missing"}
	return c.report(p, func(t *txn) error {
		if row, err = rowOf(t, a.key); err == nil {
			row.sum.Usage, err = sum(t)
		}
		if err == nil {
			_, err = row.save(t, nil)
		}
		return err
	})
}

// blobs reads all blobs.
func (c *check) blobs() error {
	for key := int64(0); ; {
		if err := c.store.ended(c.ctx); err != nil {
			return err
		}
		var hash string
		var data []byte
		err := c.store.row(`SELECT key, hash, data FROM blobs WHERE key > ? ORDER BY key LIMIT 1`, []any{key}, &key, &hash, &data)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return err
		}
		if hashOf(data) == hash {
			continue
		}
		p := index.Problem{Part: index.PartBlobs, Text: fmt.Sprintf("blob %s has another content", hash), Advice: adviceBack}
		if err := c.report(p, nil); err != nil {
			return err
		}
	}
	var lost int
	if err := c.store.row(`SELECT count(*) FROM blob_uses WHERE blob NOT IN (SELECT key FROM blobs)`, nil, &lost); err != nil || lost == 0 {
		return err
	}
	p := index.Problem{Part: index.PartBlobs, Text: fmt.Sprintf("%d blobs that sessions use are missing", lost), Advice: adviceBack}
	return c.report(p, nil)
}

// index compares the index with the one that the audits expect. Repair makes it again.
func (c *check) index() error {
	s := c.store
	wrong := ""
	err := s.index.use(c.ctx, func() (err error) {
		wrong, err = s.index.compare(c.docs)
		if _, cause := classify(err); errors.Is(cause, session.ErrCorrupt) {
			wrong, err = "the file is damaged", nil
		}
		return err
	})
	if err != nil && unindexed(err) || err == nil && wrong == "" {
		return nil // an index that cannot be written is not needed
	}
	if err != nil {
		return err
	}
	p := index.Problem{Part: index.PartSearch, Text: s.index.path + ": " + wrong, Advice: adviceRepair}
	if c.repair {
		err := s.index.use(c.ctx, func() error {
			if err := s.index.remove(); err != nil {
				return err
			}
			if err := s.index.ready(c.ctx); err != nil {
				return err
			}
			return s.catchUp(c.ctx)
		})
		if err != nil {
			return err
		}
		p.Fixed, p.Advice = true, ""
	}
	if !c.yield(p, nil) {
		return errLeft
	}
	return nil
}

// compare returns the first difference from the expected index, or "".
func (x *wordIndex) compare(want map[int64]*audit) (string, error) {
	have, err := x.marks()
	if err != nil {
		return "", err
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		m, a := have[key], want[key]
		if a == nil || string(a.id) != m.id {
			continue // purged, or not yet looked at: the next search forgets it or takes it in
		}
		n, err := x.differs(a, m.seq)
		if err != nil || n != "" {
			return n, err
		}
	}
	var waste int
	if err := x.lane.row(`SELECT count(*) FROM docs WHERE NOT EXISTS (SELECT 1 FROM done WHERE key = place >> 36)`, nil, &waste); err != nil {
		return "", err
	}
	if waste > 0 {
		return fmt.Sprintf("%d texts are of no session", waste), nil
	}
	return "", x.lane.exec(`INSERT INTO said (said) VALUES ('integrity-check')`)
}

// differs compares the index of one session.
func (x *wordIndex) differs(a *audit, until int64) (string, error) {
	stmt, err := x.lane.stmt(`SELECT place FROM said JOIN docs ON docs.doc = said.rowid WHERE said MATCH ? ORDER BY place`)
	if err != nil {
		return "", err
	}
	rows, err := stmt.Query(`about : ` + about(a.key))
	if err != nil {
		return "", err
	}
	defer rows.Close()
	want := a.docsTo(until)
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return "", err
		}
		if len(want) == 0 || at != place(a.key, want[0]) {
			return fmt.Sprintf("session %s: entry %d is in the wrong place", a.id, seqOf(at)), nil
		}
		want = want[1:]
	}
	if err := rows.Err(); err != nil || len(want) > 0 {
		return fmt.Sprintf("session %s: %d entries are missing", a.id, len(want)), err
	}
	var calls int
	err = x.lane.row(`SELECT count(*) FROM calls WHERE place BETWEEN ? AND ?`, []any{place(a.key, 1), place(a.key, until)}, &calls)
	if err != nil || calls != a.callsTo(until) {
		return fmt.Sprintf("session %s: %d calls, not %d", a.id, calls, a.callsTo(until)), err
	}
	return "", nil
}

// sameUsage compares sums that may have been added in another order.
func sameUsage(a, b llm.Usage) bool {
	cost := math.Abs(a.Cost-b.Cost) <= 1e-9*max(1, math.Abs(a.Cost), math.Abs(b.Cost))
	a.Cost, b.Cost = 0, 0
	return cost && a == b
}
