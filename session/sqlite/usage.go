package sqlite

import (
	"context"
	"iter"
	"math"

	"github.com/tenon-agent/tenon/session"
)

// Usage implements [session.Store]. To count calls, it brings the index up to date before.
func (s *Store) Usage(ctx context.Context, q session.UsageQuery) iter.Seq2[session.UsageRow, error] {
	return func(yield func(session.UsageRow, error) bool) {
		rows, err := s.usage(ctx, q)
		for _, r := range rows {
			if err = s.ended(ctx); err != nil {
				break
			}
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(session.UsageRow{}, s.fail("read", err))
		}
	}
}

func (s *Store) usage(ctx context.Context, q session.UsageQuery) ([]session.UsageRow, error) {
	if err := s.ended(ctx); err != nil {
		return nil, err
	}
	ids, err := s.named(q)
	if err != nil {
		return nil, err
	}
	sum := session.NewTally(q)
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

// named are the sessions that a query is about.
func (s *Store) named(q session.UsageQuery) (map[int64]session.SessionID, error) {
	rows, err := s.query(`SELECT key, id FROM sessions WHERE kept = 0 AND (?1 = '' OR dir = ?1) AND (?2 = '' OR id = ?2)`,
		q.Dir, string(q.Session))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := map[int64]session.SessionID{}
	for rows.Next() {
		var key int64
		var id session.SessionID
		if err := rows.Scan(&key, (*string)(&id)); err != nil {
			return nil, err
		}
		ids[key] = id
	}
	return ids, rows.Err()
}

// within returns the first and the last microsecond of a query.
func within(q session.UsageQuery) (since, until int64) {
	since, until = firstMicro(q.Since), math.MaxInt64
	if !q.Until.IsZero() {
		until = firstMicro(q.Until) - 1
	}
	return since, until
}

// usageBatch is how many rows are read at once, so that no query lasts.
const usageBatch = 4000

// spendings adds what answers and summaries consumed.
func (s *Store) spendings(ctx context.Context, q session.UsageQuery, ids map[int64]session.SessionID, sum *session.Tally) error {
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
func (s *Store) spendingBatch(
	time, at *int64, until int64, ids map[int64]session.SessionID, sum *session.Tally,
) (n int, err error) {
	rows, err := s.query(`SELECT time, place, model, agent, input, cache_read, cache_write, output, reasoning, cost FROM spending
		WHERE (time, place) > (?, ?) AND time <= ? ORDER BY time, place LIMIT 0 + ?`, *time, *at, until, usageBatch)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		r := session.UsageRow{Answers: 1}
		u := &r.Usage
		if err := rows.Scan(time, at, &r.Model, &r.Agent, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Cost); err != nil {
			return n, err
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
func (x *index) calls(q session.UsageQuery, ids map[int64]session.SessionID, sum *session.Tally) error {
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
		r := session.UsageRow{Calls: 1}
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
