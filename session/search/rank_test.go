package search_test

import (
	"testing"
	"time"

	"github.com/tenon-agent/tenon/session/search"
)

func TestRank(t *testing.T) {
	const month = 30 * 24 * time.Hour
	now := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	hit := func(age time.Duration, weight float64) search.Hit {
		return search.Hit{Time: now.Add(-age), Score: weight}
	}

	ranked := search.Rank([]search.Hit{hit(3*month, 4), hit(0, 1.5), hit(month, 4)}, 10)
	for i, want := range []float64{2, 1.5, 1} { // after a month it counts half, after three a quarter
		if ranked[i].Score != want {
			t.Errorf("hit %d has the score %v, want %v", i+1, ranked[i].Score, want)
		}
	}

	many := []search.Hit{hit(2*time.Hour, 100)}
	for range search.MaxRanked {
		many = append(many, hit(time.Hour, 1))
	}
	if ranked = search.Rank(many, len(many)); len(ranked) != search.MaxRanked || ranked[0].Score > 1 {
		t.Errorf("%d hits, the best %v: only the newest are compared", len(ranked), ranked[0].Score)
	}
	if ranked = search.Rank(ranked, 0); len(ranked) != search.DefaultHits {
		t.Errorf("%d hits, want %d", len(ranked), search.DefaultHits)
	}
}

// Words that stand in a row stand in one text: the end of one and the beginning of the next are no row.
func TestTextsAreApart(t *testing.T) {
	s := search.StreamsOf([]search.Piece{
		{Kind: search.SaidUser, Text: "say hello"},
		{Kind: search.SaidUser, Text: "world go"},
	})
	for query, want := range map[string]bool{`"say hello"`: true, `"world go"`: true, `"hello world"`: false, "hello world": true} {
		if got := search.Parse(query).Match(s, false); got != want {
			t.Errorf("%s: found %t", query, got)
		}
	}
}
