package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// MaxRanked is how many hits are compared with each other: the newest.
const MaxRanked = 1000

// Score is how good a hit is: by its [Weight], and by how much older it is than the newest one. After a month it counts
// half.
func Score(weight float64, at, newest time.Time) float64 {
	const month = 30 * 24 * time.Hour
	age := max(newest.Sub(at), 0)
	return weight / (1 + float64(age)/float64(month))
}

// Rank scores hits whose Score is their weight, and puts the best first, at most limit; zero is session.DefaultHits.
func Rank(hits []session.Hit, limit int) []session.Hit {
	slices.SortFunc(hits, func(a, b session.Hit) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Session, a.Session), cmp.Compare(b.Seq, a.Seq))
	})
	hits = hits[:min(len(hits), MaxRanked)]
	for i := range hits {
		hits[i].Score = Score(hits[i].Score, hits[i].Time, hits[0].Time)
	}
	slices.SortStableFunc(hits, func(a, b session.Hit) int { return cmp.Compare(b.Score, a.Score) })
	if limit <= 0 {
		limit = session.DefaultHits
	}
	return hits[:min(len(hits), limit)]
}

// Journals is what [Scan] reads: a part of session.Store, with the same contract.
type Journals interface {
	// List yields summaries of sessions.
	List(ctx context.Context, q session.Query) iter.Seq2[session.Summary, error]

	// Read yields the entries of one after a sequence number.
	Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error]
}

// Scan is session.Store.Search without an index: it reads everything.
func Scan(ctx context.Context, s Journals, q session.SearchQuery) iter.Seq2[session.Hit, error] {
	return func(yield func(session.Hit, error) bool) {
		hits, err := scan(ctx, s, q)
		if err != nil {
			yield(session.Hit{}, err)
			return
		}
		for _, h := range hits {
			if !yield(h, nil) {
				return
			}
		}
	}
}

func scan(ctx context.Context, s Journals, q session.SearchQuery) ([]session.Hit, error) {
	var hits []session.Hit
	query := Parse(q.Text)
	for sum, err := range s.List(ctx, session.Query{Prefix: string(q.Session), Dir: q.Dir, Tag: q.Tag}) {
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
			pieces := Pieces(e.Body)
			if len(pieces) == 0 || !query.Match(StreamsOf(pieces), q.Thinking) {
				continue
			}
			h := session.Hit{Session: sum.ID, Entry: e.ID, Seq: e.Seq, Time: e.Time, Score: Weight(e.Body)}
			h.Kind, h.Snippet = query.Snippet(pieces, q.Thinking)
			if hits = append(hits, h); len(hits) > 4*MaxRanked {
				hits = newest(hits)
			}
		}
	}
	return Rank(hits, q.Limit), nil
}

// newest drops the hits that will not be ranked.
func newest(hits []session.Hit) []session.Hit {
	slices.SortFunc(hits, func(a, b session.Hit) int { return b.Time.Compare(a.Time) })
	return hits[:MaxRanked]
}
