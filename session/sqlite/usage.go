package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Usage implements [index.Store]. To count calls, it first updates the index.
func (s *searcher) Usage(ctx context.Context, q index.UsageQuery) iter.Seq2[index.UsageRow, error] {
	return func(yield func(index.UsageRow, error) bool) {
		rows, err := s.usage(ctx, q)
		yieldAll(ctx, s.file, rows, s.fail("read", err), yield)
	}
}

func (s *searcher) usage(ctx context.Context, q index.UsageQuery) ([]index.UsageRow, error) {
	if err := cmp.Or(s.ended(ctx), s.complete(), s.counts()); err != nil {
		return nil, err
	}
	ids, err := s.named(q)
	if err != nil {
		return nil, err
	}
	sum := index.NewTally(q)
	if err := s.spendings(ctx, q, ids, sum); err != nil {
		return nil, err
	}
	if q.Counts() {
		err := s.index.use(ctx, func() error {
			if err := s.catchUp(ctx); err != nil {
				return err
			}
			return s.index.calls(q, ids, sum)
		})
		if unindexed(err) {
			err = s.countCalls(ctx, ids, sum)
		}
		if err != nil {
			return nil, s.indexFail(err)
		}
	}
	return sum.Rows(), nil
}

// Spent implements [index.Store].
func (s *searcher) Spent(ctx context.Context, since time.Time) (llm.Usage, error) {
	var u llm.Usage
	var odd int
	if err := cmp.Or(s.ended(ctx), s.complete(), s.counts()); err != nil {
		return u, err
	}
	err := s.row(`SELECT coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
			coalesce(sum(output), 0), coalesce(sum(reasoning), 0), coalesce(sum(cost), 0.0), coalesce(sum(parity <> `+parity+`), 0)
		FROM spending WHERE time >= ? AND (NOT imported OR parity <> `+parity+`)`, []any{since.UnixMicro()},
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost, &odd)
	if err == nil && odd > 0 {
		err = errSpending
	}
	return u, s.fail("read", err)
}

// named returns the sessions of a query.
func (s *searcher) named(q index.UsageQuery) (map[int64]session.SessionID, error) {
	rows, err := s.query(selectRow+`WHERE kept = 0 AND (?1 = '' OR dir = ?1) AND (?2 = '' OR id = ?2)`, q.Dir, string(q.Session))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := map[int64]session.SessionID{}
	for rows.Next() {
		var r stored
		if err := r.scan(rows); err != nil {
			return nil, err
		}
		if err := r.verify(); err != nil {
			return nil, err
		}
		ids[r.key] = r.sum.ID
	}
	return ids, rows.Err()
}

// within returns the first and the last microsecond of a query.
func within(q index.UsageQuery) (since, until int64) {
	since, until = firstMicro(q.Since), math.MaxInt64
	if !q.Until.IsZero() {
		until = firstMicro(q.Until) - 1
	}
	return since, until
}

// errSpending reports a damaged row of spending.
var errSpending = fmt.Errorf("session: the usage of sessions is %w; run tenon sessions check --repair", session.ErrCorrupt)

// tokens is what sessions and spending have both. Their sums are compared.
const tokens = `input + cache_read + cache_write + output + reasoning`

// counts returns an error if spending does not have the usage of all sessions. It looks once.
func (s *searcher) counts() error {
	return s.billed.check(func() error {
		var same bool
		err := s.row(`SELECT (SELECT total(`+tokens+`) FROM spending) = (SELECT total(`+tokens+`) FROM sessions WHERE kept = 0)`, nil, &same)
		if err == nil && !same {
			err = errSpending
		}
		return err
	})
}

// usageBatch is the number of rows to read at once, so that queries are short.
const usageBatch = 4000

// spendings adds the usage of answers and summaries.
func (s *searcher) spendings(ctx context.Context, q index.UsageQuery, ids map[int64]session.SessionID, sum *index.Tally) error {
	since, until := within(q)
	for at := int64(-1); ; {
		if err := s.ended(ctx); err != nil {
			return err
		}
		n, err := s.spendingBatch(&since, &at, until, ids, sum)
		if err != nil || n < usageBatch {
			return err
		}
	}
}

// spendingBatch adds the rows after a time and a place, and moves these on.
func (s *searcher) spendingBatch(
	time, at *int64, until int64, ids map[int64]session.SessionID, sum *index.Tally,
) (n int, err error) {
	rows, err := s.query(`SELECT time, place, model, agent, input, cache_read, cache_write, output, reasoning, cost,
			names, parity = `+parity+` FROM spending
		WHERE (time, place) > (?, ?) AND time <= ? ORDER BY time, place LIMIT 0 + ?`, *time, *at, until, usageBatch)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		r := index.UsageRow{Answers: 1}
		u := &r.Usage
		var names int64
		var even bool
		if err := rows.Scan(time, at, &r.Model, &r.Agent, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost,
			&names, &even); err != nil {
			return n, err
		}
		if !even || names != namesOf(r.Model, r.Agent) {
			return n, errSpending
		}
		id, in := ids[keyOf(*at)]
		if !in {
			continue
		}
		r.Session, r.Seq, r.Time = id, seqOf(*at), fromMicro(*time)
		sum.Add(r)
	}
	return n, rows.Err()
}

// calls adds the calls of tools.
func (x *wordIndex) calls(q index.UsageQuery, ids map[int64]session.SessionID, sum *index.Tally) error {
	stmt, err := x.lane.stmt(`SELECT time, place, tool, agent, failed, bytes FROM calls WHERE time BETWEEN ? AND ?`)
	if err != nil {
		return err
	}
	since, until := within(q)
	rows, err := stmt.Query(since, until)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var us, at int64
		r := index.UsageRow{Calls: 1}
		if err := rows.Scan(&us, &at, &r.Tool, &r.Agent, &r.Failed, &r.Bytes); err != nil {
			return err
		}
		id, in := ids[keyOf(at)]
		if !in {
			continue
		}
		r.Session, r.Seq, r.Time = id, seqOf(at), fromMicro(us)
		sum.Add(r)
	}
	return rows.Err()
}
