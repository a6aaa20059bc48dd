package sqlite

import (
	"context"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// List implements [session.Store].
func (s *Store) List(ctx context.Context, q session.Query) iter.Seq2[session.Summary, error] {
	return func(yield func(session.Summary, error) bool) {
		all, err := s.summaries(ctx, q)
		for _, one := range all {
			if err = s.ended(ctx); err != nil {
				break
			}
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			yield(session.Summary{}, s.fail("list", err))
		}
	}
}

// summaries reads them all, so that no query lasts as long as its consumer.
func (s *Store) summaries(ctx context.Context, q session.Query) ([]session.Summary, error) {
	if err := s.ended(ctx); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 || q.Tag != "" || q.Text != "" { // which are not for SQL to see
		limit = -1
	}
	before := int64(1<<63 - 1)
	if !q.Before.IsZero() {
		before = firstMicro(q.Before)
	}
	// The range lets SQLite find a session by its ID; that IDs within it begin with the prefix is for substr to say.
	rows, err := s.query(`SELECT id, title, named, dir, model, created, updated, seq, messages, runs,
			input, cache_read, cache_write, output, reasoning, cost, from_session, from_entry, base, tags, deleted, token, owner
		FROM sessions
		WHERE id BETWEEN ?1 AND ?1 || char(1114111) AND substr(id, 1, length(?1)) = ?1 AND (?2 = '' OR dir = ?2)
			AND updated >= ?3 AND updated < ?4 AND (deleted <> 0) = ?5 AND kept = 0
		ORDER BY updated DESC, id DESC LIMIT 0 + ?6`, q.Prefix, q.Dir, firstMicro(q.After), before, q.Deleted, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []session.Summary
	lives := map[string]bool{"": false}
	for rows.Next() {
		one, token, err := summaryOf(rows)
		if err != nil {
			return nil, err
		}
		if !q.Selects(one) {
			continue
		}
		if _, known := lives[token]; !known {
			lives[token] = s.owner.lives(token)
		}
		if !lives[token] {
			one.Owner = ""
		}
		if all = append(all, one); len(all) == q.Limit {
			break
		}
	}
	return all, rows.Err()
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

// summaryOf reads a summary, and the token of who holds the lease.
func summaryOf(row scanner) (one session.Summary, token string, err error) {
	var (
		created, updated, base, deleted int64
		packed                          tags
	)
	u := &one.Usage
	if err := row.Scan((*string)(&one.ID), &one.Title, &one.Named, &one.Dir, &one.Model, &created, &updated,
		&one.Entries, &one.Messages, &one.Runs, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost,
		(*string)(&one.From.Session), (*string)(&one.From.Entry), &base, (*string)(&packed), &deleted, &token, &one.Owner); err != nil {
		return one, "", err
	}
	one.Created, one.Updated, one.Deleted = fromMicro(created), fromMicro(updated), fromMicroOrNever(deleted)
	one.Fork = base != 0
	one.Tags, err = packed.list()
	return one, token, err
}

// Spent implements [session.Store].
func (s *Store) Spent(ctx context.Context, since time.Time) (llm.Usage, error) {
	var u llm.Usage
	if err := s.ended(ctx); err != nil {
		return u, err
	}
	err := s.row(`SELECT coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
			coalesce(sum(output), 0), coalesce(sum(reasoning), 0), coalesce(sum(cost), 0.0)
		FROM spending WHERE time >= ?`, []any{since.UnixMicro()},
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost)
	return u, s.fail("read", err)
}
