package search

import (
	"cmp"
	"slices"
	"time"
)

// MaxRanked is the number of hits that Rank compares: the newest.
const MaxRanked = 1000

// Score returns the score of a hit: its [Weight], reduced by its age relative to the newest hit. After a month it counts half.
func Score(weight float64, at, newest time.Time) float64 {
	const month = 30 * 24 * time.Hour
	age := max(newest.Sub(at), 0)
	return weight / (1 + float64(age)/float64(month))
}

// Rank scores hits whose Score is their weight, and puts the best first, at most limit; zero is DefaultHits.
func Rank(hits []Hit, limit int) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Session, a.Session), cmp.Compare(b.Seq, a.Seq))
	})
	hits = hits[:min(len(hits), MaxRanked)]
	for i := range hits {
		hits[i].Score = Score(hits[i].Score, hits[i].Time, hits[0].Time)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	if limit <= 0 {
		limit = DefaultHits
	}
	return hits[:min(len(hits), limit)]
}
