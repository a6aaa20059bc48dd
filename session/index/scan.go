package index

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// Journals is what [Scan] reads: a part of [Store], with the same contract.
type Journals interface {
	// List yields summaries of sessions.
	List(ctx context.Context, q Query) iter.Seq2[Summary, error]

	// Read yields the entries of one after a sequence number.
	Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error]
}

// Scan is a search without an index: it reads all entries.
func Scan(ctx context.Context, s Journals, q search.Request) iter.Seq2[search.Hit, error] {
	return func(yield func(search.Hit, error) bool) {
		hits, err := scan(ctx, s, q)
		if err != nil {
			yield(search.Hit{}, err)
			return
		}
		for _, h := range hits {
			if !yield(h, nil) {
				return
			}
		}
	}
}

func scan(ctx context.Context, s Journals, q search.Request) ([]search.Hit, error) {
	var hits []search.Hit
	query := search.Parse(q.Text)
	for sum, err := range s.List(ctx, Query{Prefix: string(q.Session), Dir: q.Dir, Tag: q.Tag}) {
		if err != nil {
			return nil, err
		}
		if query.Empty() || q.Session != "" && sum.ID != q.Session {
			continue
		}
		for e, err := range s.Read(ctx, sum.ID, 0) {
			if errors.Is(err, session.ErrNotFound) { // purged meanwhile
				break
			}
			if err != nil {
				return nil, err
			}
			if e.Time.Before(q.Since) || !q.Until.IsZero() && !e.Time.Before(q.Until) {
				continue
			}
			pieces := search.Pieces(e.Body)
			if len(pieces) == 0 || !query.Match(search.StreamsOf(pieces), q.Thinking) {
				continue
			}
			h := search.Hit{Session: sum.ID, Entry: e.ID, Seq: e.Seq, Time: e.Time, Score: search.Weight(e.Body)}
			h.Kind, h.Snippet = query.Snippet(pieces, q.Thinking)
			if hits = append(hits, h); len(hits) > 4*search.MaxRanked {
				hits = newest(hits)
			}
		}
	}
	return search.Rank(hits, q.Limit), nil
}

// newest drops the hits that will not be ranked.
func newest(hits []search.Hit) []search.Hit {
	slices.SortFunc(hits, func(a, b search.Hit) int { return b.Time.Compare(a.Time) })
	return hits[:search.MaxRanked]
}
