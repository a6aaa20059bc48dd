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
	if limit <= 0 {
		limit = -1
	}
	// The range lets SQLite find a session by its ID; that IDs within it begin with the prefix is for substr to say.
	rows, err := s.query(`SELECT id, title, named, dir, model, created, updated, seq, messages,
			input, cache_read, cache_write, output, reasoning, cost, from_session, from_entry, token, owner
		FROM sessions
		WHERE id BETWEEN ?1 AND ?1 || char(1114111) AND substr(id, 1, length(?1)) = ?1 AND (?2 = '' OR dir = ?2)
		ORDER BY updated DESC, id DESC LIMIT ?3`, q.Prefix, q.Dir, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []session.Summary
	lives := map[string]bool{"": false}
	for rows.Next() {
		var (
			one              session.Summary
			created, updated int64
			token            string
		)
		u := &one.Usage
		if err := rows.Scan((*string)(&one.ID), &one.Title, &one.Named, &one.Dir, &one.Model, &created, &updated,
			&one.Entries, &one.Messages, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost,
			(*string)(&one.From.Session), (*string)(&one.From.Entry), &token, &one.Owner); err != nil {
			return nil, err
		}
		one.Created, one.Updated = fromMicro(created), fromMicro(updated)
		if _, known := lives[token]; !known {
			lives[token] = s.owner.lives(token)
		}
		if !lives[token] {
			one.Owner = ""
		}
		all = append(all, one)
	}
	return all, rows.Err()
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
