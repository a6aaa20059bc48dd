package workspace

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxSimilar is how many entries Similar looks at.
const maxSimilar = 20_000

// Similar returns at most n paths from the root that exist and are most like name, which does not: a guess at what was meant.
// Ignored files are no guesses.
func (w *Workspace) Similar(ctx context.Context, name string, n int) []string {
	p, err := w.place(name)
	if err != nil {
		return nil
	}
	type guess struct {
		path  string
		score float64
	}
	var guesses []guess
	want := filepath.ToSlash(p.rel)
	seen := 0
	for entry, err := range w.Walk(ctx, ".", WalkOptions{}) {
		if seen++; seen > maxSimilar || ctx.Err() != nil {
			break
		}
		if err != nil {
			continue
		}
		score := resemblance(path.Base(want), entry.Name())
		if score < 0.6 {
			continue
		}
		// Of files that are equally like, the one in a like directory.
		score += resemblance(path.Dir(want), path.Dir(entry.Path)) / 4
		guesses = append(guesses, guess{entry.Path, score})
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, g := range guesses[:min(n, len(guesses))] {
		out = append(out, g.path)
	}
	return out
}

// resemblance is the share of pairs of neighbouring letters that two names have in common, whatever their case.
func resemblance(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b {
		return 1
	}
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[a[i:i+2]]++
	}
	common := 0
	for i := range len(b) - 1 {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			common++
		}
	}
	return 2 * float64(common) / float64(max(1, len(a)+len(b)-2))
}
