// Package complete finds candidates by fuzzy patterns, and completes the names of files and commands in prompts.
package complete

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Ranked is a candidate that matches a pattern.
type Ranked struct {
	Index     int   // of the candidate
	Score     int   // higher is better
	Positions []int // the matched bytes of the candidate, ascending
}

// Limit is the maximum of candidates that Match returns.
const Limit = 100

// Match returns the best candidates for a pattern, the best first. A candidate matches a word of the pattern if it has the letters of the
// word in their order; it matches the pattern if it matches all words. Case matters if the pattern has upper-case letters. Letters at the
// starts of words, letters in a row and letters in the last element of a path count more. Of equally good candidates, the earlier one comes
// first. The empty pattern matches everything.
func Match(pattern string, candidates []string) []Ranked { return rank(pattern, candidates, false) }

// Shortest is Match for names: a shorter name comes before a longer one that is almost as good.
func Shortest(pattern string, candidates []string) []Ranked { return rank(pattern, candidates, true) }

func rank(pattern string, candidates []string, short bool) []Ranked {
	better := func(a, b Ranked) int {
		order := b.Score - a.Score
		if order == 0 && short {
			order = len(candidates[a.Index]) - len(candidates[b.Index])
		}
		return cmp.Or(order, a.Index-b.Index)
	}
	words := words(pattern)
	best := make([]Ranked, 0, 4*Limit)
	floor := -1 << 30
	for i, c := range candidates {
		score, ok := 0, true
		if short {
			score = -len(c) / 8
		}
		for w := 0; ok && w < len(words); w++ {
			var n int
			n, ok = words[w].score(c, nil)
			score += n
		}
		if !ok || score < floor {
			continue
		}
		if best = append(best, Ranked{Index: i, Score: score}); len(best) == cap(best) {
			slices.SortFunc(best, better)
			best = best[:Limit]
			floor = best[Limit-1].Score
		}
		if len(words) == 0 && len(best) == Limit {
			break
		}
	}
	slices.SortFunc(best, better)
	best = best[:min(len(best), Limit)]
	for i := range best {
		at := &best[i].Positions
		for w := range words {
			words[w].score(candidates[best[i].Index], at)
		}
		slices.Sort(*at)
		*at = slices.Compact(*at)
	}
	return best
}

// The values of a score.
const (
	perLetter  = 16
	inRow      = 9
	firstGap   = 3
	nextGap    = 1
	inBase     = 24 // the whole word is in the last element of the path
	wholeBase  = 24 // it is the last element, or its start up to a dot
	baseStart  = 14
	pathStart  = 10
	wordStart  = 8
	camelStart = 7
)

// word is a word of a pattern.
type word struct {
	text  string
	upper string // the letters that match too
	exact bool   // case matters
	other bool   // it has letters that are not ASCII
	slash bool
}

func words(pattern string) (all []word) {
	for _, text := range strings.Fields(pattern) {
		w := word{text: text, exact: strings.ContainsFunc(text, unicode.IsUpper), slash: strings.Contains(text, "/")}
		w.other = strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
		if w.upper = text; !w.exact {
			w.upper = strings.Map(func(r rune) rune {
				if r <= unicode.MaxASCII {
					return unicode.ToUpper(r)
				}
				return r
			}, text)
		}
		all = append(all, w)
	}
	return all
}

// folded returns a candidate as the word compares it, byte for byte.
func (w *word) folded(c string) string {
	if w.other && !w.exact {
		if lower := strings.ToLower(c); len(lower) == len(c) {
			return lower
		}
	}
	return c
}

// same reports whether a byte of the word matches a byte of a candidate.
func (w *word) same(i int, b byte) bool { return w.text[i] == b || w.upper[i] == b }

// find returns the shortest range that ends where the first match of the word ends.
func (w *word) find(c string) (from, to int, ok bool) {
	i, lower, upper := 0, w.text[0], w.upper[0]
	for to = 0; to < len(c); to++ {
		if b := c[to]; b == lower || b == upper {
			if i++; i == len(w.text) {
				break
			}
			lower, upper = w.text[i], w.upper[i]
		}
	}
	if i < len(w.text) {
		return 0, 0, false
	}
	from = to
	for i--; ; from-- {
		if w.same(i, c[from]) {
			if i--; i < 0 {
				return from, to + 1, true
			}
		}
	}
}

// base returns where the last element of a path starts. A directory may end with a slash.
func base(path string) int {
	return strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1
}

// score returns how well a candidate matches, and adds the places of the letters to at, if that is not nil. It looks at the last element of a
// path first, and there, or else in the whole, at the range that find returns.
func (w *word) score(full string, at *[]int) (score int, ok bool) {
	c := w.folded(full)
	last := base(full)
	from, to := 0, 0
	if !w.slash {
		if from, to, ok = w.find(c[last:]); ok {
			from, to, score = from+last, to+last, inBase
		}
	}
	if !ok {
		if from, to, ok = w.find(c); !ok {
			return 0, false
		}
	}
	if size := len(w.text); score > 0 && from == last && to == last+size && (to == len(c) || c[to] == '.' || c[to] == '/') {
		score += wholeBase
	}
	for i, j, gap := 0, from, 0; j < to; j++ {
		if i == len(w.text) || !w.same(i, c[j]) {
			gap++
			continue
		}
		place := startBonus(full, j, last)
		switch {
		case i == 0:
		case gap == 0:
			place = max(place, inRow)
		default:
			place -= firstGap + nextGap*(gap-1)
		}
		score += perLetter + place
		if i, gap = i+1, 0; at != nil {
			*at = append(*at, j)
		}
	}
	return score, true
}

// startBonus returns what a letter counts more because of its place.
func startBonus(c string, at, base int) int {
	if at == base {
		return baseStart
	}
	if at == 0 {
		return pathStart
	}
	switch before, here := c[at-1], c[at]; {
	case before == '/':
		return pathStart
	case strings.IndexByte("_-. :,([{", before) >= 0:
		return wordStart
	case before >= 'a' && before <= 'z' && here >= 'A' && here <= 'Z', (before < '0' || before > '9') && here >= '0' && here <= '9':
		return camelStart
	}
	return 0
}
