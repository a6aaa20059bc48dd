package sqlite

import (
	"cmp"
	"context"
	"iter"
	"math"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// List implements [index.Store].
func (s *reader) List(ctx context.Context, q index.Query) iter.Seq2[index.Summary, error] {
	return func(yield func(index.Summary, error) bool) {
		all, err := s.summaries(ctx, q)
		yieldAll(ctx, s.file, all, s.fail("list", err), yield)
	}
}

// yieldAll yields values until the consumer leaves or the store ends, and then the error, if any.
func yieldAll[T any](ctx context.Context, s *file, all []T, err error, yield func(T, error) bool) {
	for _, one := range all {
		if ended := s.ended(ctx); ended != nil {
			err = ended
			break
		}
		if !yield(one, nil) {
			return
		}
	}
	if err != nil {
		yield(*new(T), err)
	}
}

// summaries reads them all, so that no query is open while the consumer handles them.
func (s *reader) summaries(ctx context.Context, q index.Query) ([]index.Summary, error) {
	if err := s.ended(ctx); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 || q.Tag != "" || q.Text != "" || q.Prefix == "" { // which are not for SQL to see
		limit = math.MaxInt32
	}
	before := int64(1<<63 - 1)
	if !q.Before.IsZero() {
		before = firstMicro(q.Before)
	}
	// The range lets SQLite find a session by its ID; substr selects those in it that begin with the prefix. Sessions in the trash are left
	// out below, after their rows are verified.
	s.listing.Lock()
	defer s.listing.Unlock()
	rows, err := s.query(selectRow+`
		WHERE id BETWEEN ?1 AND ?1 || char(1114111) AND substr(id, 1, length(?1)) = ?1 AND (?2 = '' OR dir = ?2)
			AND updated >= ?3 AND updated < ?4 AND (deleted <> 0 OR NOT ?5) AND kept = 0
		ORDER BY updated DESC, id DESC LIMIT 0 + ?6 + (SELECT count(*) FROM sessions WHERE deleted <> 0)`, q.Prefix, q.Dir, firstMicro(q.After), before, q.Deleted, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []index.Summary
	var damaged error // of one session, which keeps none of the others from being listed
	lives := map[string]bool{"": false}
	for rows.Next() {
		var r stored
		if err := r.scan(rows); err != nil {
			return nil, err
		}
		if err := cmp.Or(r.verify(), s.whole(&r)); err != nil {
			damaged = cmp.Or(damaged, err)
			continue
		}
		if r.sum.From.Session != "" && r.base == 0 {
			if r.sum.Parent, err = s.parent(ctx, r.sum.ID); err != nil {
				damaged = cmp.Or(damaged, err)
				continue
			}
		}
		if !q.Selects(r.sum) {
			continue
		}
		if _, known := lives[r.token]; !known {
			lives[r.token] = s.owner.lives(r.token)
		}
		if !lives[r.token] {
			r.sum.Owner = ""
		}
		if all = append(all, r.sum); len(all) == q.Limit {
			break
		}
	}
	if damaged == nil && q.Prefix == "" {
		damaged = s.complete()
	}
	return all, cmp.Or(rows.Err(), damaged)
}

// parent returns the session that spawned a session; empty: none did.
func (s *reader) parent(ctx context.Context, id session.SessionID) (session.SessionID, error) {
	for e, err := range s.Read(ctx, id, 0, session.Created{}.Kind()) {
		if err != nil {
			return "", err
		}
		if c, ok := e.Body.(session.Created); ok {
			return c.Parent.Session, nil
		}
	}
	return "", nil
}

// firstMicro is the first microsecond that is not before a time.
func firstMicro(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	us := t.UnixMicro()
	if time.UnixMicro(us).Before(t) {
		us++
	}
	return us
}

// scanner is a row of a result.
type scanner interface{ Scan(dest ...any) error }
