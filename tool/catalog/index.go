package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-agent/tenon/llm"
)

// index finds tools by words, ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with its usual constants.
type index struct {
	specs  []llm.Tool
	counts []map[string]float64 // of the words of each tool
	sizes  []float64
	mean   float64
	having map[string]int // in how many tools a word is
}

const (
	saturation = 1.2
	lengths    = 0.75
	nameWeight = 3 // of a word in the name; those of the description and of arguments count once
)

func newIndex(specs []llm.Tool) *index {
	x := &index{specs: specs, having: map[string]int{}}
	for _, spec := range specs {
		count := map[string]float64{}
		for _, w := range words(spec.Name) {
			count[w] += nameWeight
		}
		for _, w := range words(spec.Description + " " + strings.Join(properties(spec.Schema), " ")) {
			count[w]++
		}
		size := 0.0
		for w, n := range count {
			x.having[w]++
			size += n
		}
		x.counts, x.sizes = append(x.counts, count), append(x.sizes, size)
		x.mean += size / float64(len(specs))
	}
	return x
}

// search returns the tools that fit a query best, or those that it names.
func (x *index) search(query string, limit int) []llm.Tool {
	var named []llm.Tool
	for name := range strings.SplitSeq(query, ",") {
		if i := slices.IndexFunc(x.specs, func(s llm.Tool) bool { return s.Name == strings.TrimSpace(name) }); i >= 0 {
			named = append(named, x.specs[i])
		}
	}
	if len(named) > 0 {
		return named[:min(len(named), limit)]
	}
	scores := make(map[int]float64)
	asked := words(query)
	slices.Sort(asked)
	for _, w := range slices.Compact(asked) {
		rarity := math.Log(1 + (float64(len(x.specs)-x.having[w])+0.5)/(float64(x.having[w])+0.5))
		for i, count := range x.counts {
			if n := count[w]; n > 0 {
				scores[i] += rarity * n * (saturation + 1) / (n + saturation*(1-lengths+lengths*x.sizes[i]/x.mean))
			}
		}
	}
	best := slices.SortedFunc(maps.Keys(scores), func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(x.specs[a].Name, x.specs[b].Name))
	})
	var out []llm.Tool
	for _, i := range best[:min(len(best), limit)] {
		out = append(out, x.specs[i])
	}
	return out
}

// words splits a text at everything that is not a letter or a digit, and before capitals, and drops the s of a plural.
func words(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if w := strings.ToLower(b.String()); len(w) > 1 {
			if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
				w = w[:len(w)-1]
			}
			out = append(out, w)
		}
		b.Reset()
	}
	lower := false
	for _, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !letter || lower && unicode.IsUpper(r) {
			flush()
		}
		if letter {
			b.WriteRune(r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return out
}

// properties returns the names of the arguments of a schema, sorted.
func properties(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // a schema without properties has none
	return slices.Sorted(maps.Keys(s.Properties))
}
