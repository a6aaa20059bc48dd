package complete_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/tui/complete"
)

func TestMatchPrefersBaseNamesAndStartsOfWords(t *testing.T) {
	for _, c := range []struct {
		pattern    string
		candidates []string // the best first
	}{
		{"main", []string{"main.go", "cmd/main.go", "domain/x.go"}},
		{"main", []string{"cmd/main.go", "internal/mainline/x/remains.go"}},
		{"wt", []string{"write_text.go", "growth.go"}},
		{"edit", []string{"internal/tui/editor/x_edit.go", "internal/tui/editor/draw.go"}},
		{"fb", []string{"src/fooBar.go", "src/fxxb.go"}},
		{"tui/ed", []string{"internal/tui/editor/a.go", "internal/tuxi/unreadable/d.go"}},
		{"src", []string{"src/", "src/a/b.c", "lib/sourc.c"}},
		{"readme", []string{"README.md", "docs/readme-old.txt"}},
		{"mod", []string{"/mode", "/model"}},
		{"19", []string{"file_19_handler.go", "file_190_handler.go"}},
		{"go test", []string{"internal/go_test.txt", "go/internal/other/tests"}},
	} {
		reversed := slices.Clone(c.candidates)
		slices.Reverse(reversed)
		for _, order := range [][]string{c.candidates, reversed} {
			ranked := complete.Shortest(c.pattern, order)
			var got []string
			for _, r := range ranked {
				got = append(got, order[r.Index])
			}
			if len(got) == 0 || got[0] != c.candidates[0] {
				t.Errorf("%q: got %q, want %q first; %+v", c.pattern, got, c.candidates[0], ranked)
			}
		}
	}
}

func TestMatchKeepsTheOrder(t *testing.T) {
	ranked := complete.Match("fix", []string{"fix a long prompt that came last", "unfixed", "fix a"})
	if len(ranked) != 3 || ranked[0].Index != 0 || ranked[1].Index != 2 {
		t.Errorf("%+v", ranked)
	}
}

func TestMatchIsOfLettersInTheirOrder(t *testing.T) {
	for _, c := range []struct {
		pattern, candidate string
		want               bool
	}{
		{"abc", "a_b_c", true},
		{"abc", "acb", false},
		{"ABC", "abc", false},
		{"abc", "ABC", true},
		{"über", "ÜBERSICHT", true},
		{"日語", "日本語", true},
		{"a b", "b a", true},
		{"", "x", true},
		{"x", "", false},
		{"a/c", "a/b/c", true},
	} {
		if got := len(complete.Match(c.pattern, []string{c.candidate})) == 1; got != c.want {
			t.Errorf("%q in %q: %t", c.pattern, c.candidate, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("main", "cmd/tenon/main.go")
	f.Add("aab", "aaaaaaab/ab/")
	f.Add("日x/", "日本x//")
	f.Add("a", strings.Repeat("b", 600)+"a")
	f.Fuzz(func(t *testing.T, pattern, candidate string) {
		for _, r := range complete.Match(pattern, []string{candidate}) {
			if !slices.IsSorted(r.Positions) || len(r.Positions) > 0 && r.Positions[len(r.Positions)-1] >= len(candidate) {
				t.Fatalf("positions %v of %q in %q", r.Positions, pattern, candidate)
			}
			if words := strings.Fields(pattern); len(words) == 1 && len(r.Positions) > 0 {
				if len(r.Positions) != len(words[0]) {
					t.Fatalf("positions %v of %q in %q", r.Positions, pattern, candidate)
				}
			}
		}
	})
}

// paths returns as many paths as a large repository has.
func paths(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("packages/module%d/internal/server/handlers/request_handler_%d.go", i%97, i)
	}
	return all
}

func BenchmarkMatch100000(b *testing.B) {
	all := paths(100_000)
	for _, pattern := range []string{"h", "handler9", "prh", "zzz", "module handler 77", "request_handler_12345"} {
		b.Run(strings.ReplaceAll(pattern, " ", "+"), func(b *testing.B) {
			for b.Loop() {
				complete.Match(pattern, all)
			}
		})
	}
}
