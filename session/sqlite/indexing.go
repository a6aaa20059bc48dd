package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// Index implements [index.Store]. Unlike Search, it also removes the words of purged sessions from the file.
func (s *searcher) Index(ctx context.Context) error {
	if err := s.ended(ctx); err != nil {
		return err
	}
	return s.indexFail(s.index.use(ctx, func() error {
		if err := s.catchUp(ctx); err != nil {
			return err
		}
		return s.index.tidy(ctx)
	}))
}

// indexFail is fail for errors of the index.
func (s *searcher) indexFail(err error) error {
	if journal, ok := errors.AsType[journalError](err); ok {
		return journal.error
	}
	if advice, cause := classify(err); cause != nil && errors.Is(cause, session.ErrCorrupt) {
		return fmt.Errorf("session: search in %s: %w: %s (%w)", s.index.path, cause, advice, err)
	}
	return s.fail("search in", err)
}

// mark is the last entry of a session, in the journal or in the index.
type mark struct {
	key   int64
	id    string
	seq   int64
	run   session.RunID // the last that began, and its agent
	agent string
}

// lack is a session of which the index lacks the entries after a mark.
type lack struct {
	mark
	until int64
}

// transactionBytes is the size of the entries in one transaction of the index.
const transactionBytes = 32 << 20

// catchUp updates the index. After an interruption it continues.
func (s *searcher) catchUp(ctx context.Context) error {
	for {
		todo, gone, err := s.behind()
		if err != nil {
			return err
		}
		if err := s.index.forgetAll(ctx, gone); err != nil {
			return err
		}
		if err := s.takeInAll(ctx, todo); !errors.Is(err, errOvertaken) {
			return err
		}
	}
}

// behind returns the sessions that the index lacks entries of, in the order of their changes, and the sessions to remove from the index:
// purged sessions, and sessions of another copy of the journal.
func (s *searcher) behind() (todo []lack, gone []mark, err error) {
	have, err := s.index.marks()
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.query(`SELECT key, id, seq FROM sessions WHERE kept = 0 ORDER BY updated`)
	if err != nil {
		return nil, nil, s.ofJournal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var m mark
		if err := rows.Scan(&m.key, &m.id, &m.seq); err != nil {
			return nil, nil, s.ofJournal(err)
		}
		old, known := have[m.key]
		delete(have, m.key)
		if known && (old.id != m.id || old.seq > m.seq) {
			gone, old = append(gone, m), mark{}
		}
		if old.seq < m.seq {
			old.key, old.id = m.key, m.id
			todo = append(todo, lack{old, m.seq})
		}
	}
	for _, m := range have {
		gone = append(gone, m)
	}
	return todo, gone, s.ofJournal(rows.Err())
}

// marks are how far the sessions are in the index.
func (x *wordIndex) marks() (map[int64]mark, error) {
	stmt, err := x.lane.stmt(`SELECT key, id, seq, run, agent FROM done`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[int64]mark{}
	for rows.Next() {
		var m mark
		if err := rows.Scan(&m.key, &m.id, &m.seq, (*string)(&m.run), &m.agent); err != nil {
			return nil, err
		}
		all[m.key] = m
	}
	return all, rows.Err()
}

// record is an entry that may be damaged.
type record struct {
	session.Event
	kind   string
	size   int // of the body, in bytes
	sum    chain
	raw    []byte // the body, if its checksum differs
	broken error
}

// records returns the next entries of a session.
func (s *reader) records(key, after, until int64) ([]record, error) {
	rows, err := s.query(columns+`WHERE place > ? AND place <= ? ORDER BY place LIMIT 0 + ?`, place(key, after), place(key, until), batchRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return scanRecords(rows, batchBytes)
}

// cursor is the rows of a result.
type cursor interface {
	scanner
	Next() bool
	Err() error
}

// scanRecords reads entries until their bodies are this many bytes.
func scanRecords(rows cursor, enough int) ([]record, error) {
	var (
		out    []record
		at, us int64
		before int64
		sum    sql.RawBytes
		body   sql.RawBytes
	)
	for size := 0; size < enough && rows.Next(); size += len(body) {
		var r record
		if err := rows.Scan(&at, (*string)(&r.ID), (*string)(&r.Parent), (*string)(&r.Run), &r.Turn, &us, &r.kind, &r.Imported, &sum, &body); err != nil {
			return nil, err
		}
		if at <= before { // a reader would loop
			return nil, fmt.Errorf("entry %d follows entry %d: %w", seqOf(at), seqOf(before), session.ErrCorrupt)
		}
		before = at
		r.Seq, r.Time, r.size = seqOf(at), fromMicro(us), len(body)
		r.sum.scanned(sum)
		if r.broken = r.sum.verify(at, &r.Event, r.kind, body); r.broken == nil {
			r.Body, r.broken = session.DecodeBody(r.kind, body)
		} else {
			r.raw = bytes.Clone(body)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// about is the word that selects the entries of a session.
func about(key int64) string { return fmt.Sprint("s", key) }

// forgetAll removes sessions.
func (x *wordIndex) forgetAll(ctx context.Context, gone []mark) error {
	for _, m := range gone {
		if err := x.write(ctx, func() error { return x.forget(m.key) }); err != nil {
			return err
		}
	}
	return nil
}

// forget removes a session.
func (x *wordIndex) forget(key int64) error {
	docs, err := x.docsOf(key)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if err := x.lane.exec(`DELETE FROM said WHERE rowid = ?`, doc); err != nil {
			return err
		}
		if err := x.lane.exec(`DELETE FROM docs WHERE doc = ?`, doc); err != nil {
			return err
		}
	}
	if err := x.lane.exec(`DELETE FROM calls WHERE place BETWEEN ? AND ?`, place(key, 0), lastPlace(key)); err != nil {
		return err
	}
	if err := x.lane.exec(`UPDATE waste SET docs = docs + ?`, len(docs)); err != nil {
		return err
	}
	return x.lane.exec(`DELETE FROM done WHERE key = ?`, key)
}

// docsOf are the rows of a session.
func (x *wordIndex) docsOf(key int64) ([]int64, error) {
	stmt, err := x.lane.stmt(`SELECT rowid FROM said WHERE said MATCH ?`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query(`about : ` + about(key))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var docs []int64
	for rows.Next() {
		var doc int64
		if err := rows.Scan(&doc); err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, rows.Err()
}

// mergePages is how much FTS5 merges in one step.
const mergePages = 500

// tidy removes the words of removed entries from the file: FTS5 drops them when it merges its segments.
func (x *wordIndex) tidy(ctx context.Context) error {
	var waste int
	if err := x.lane.row(`SELECT docs FROM waste`, nil, &waste); err != nil || waste == 0 {
		return err
	}
	for pages := -mergePages; ; pages = mergePages { // a negative number begins to merge all into one
		if err := ctx.Err(); err != nil {
			return err
		}
		var before, after int64
		err := x.write(ctx, func() error {
			if err := x.lane.row(`SELECT total_changes()`, nil, &before); err != nil {
				return err
			}
			if err := x.lane.exec(`INSERT INTO said (said, rank) VALUES ('merge', ?)`, pages); err != nil {
				return err
			}
			return x.lane.row(`SELECT total_changes()`, nil, &after)
		})
		if err != nil {
			return err
		}
		if after-before < 2 {
			break
		}
	}
	return x.write(ctx, func() error { return x.lane.exec(`UPDATE waste SET docs = 0`) })
}
