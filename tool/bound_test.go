package tool_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

func TestBound(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	lines := b.String()
	tests := []struct {
		name, text string
		limit      int
		want       string
		lost       int64
	}{
		{"short", "a\nb\n", 200, "a\nb\n", 0},
		{"empty", "", 200, "", 0},
		{"whole lines", lines, 200, "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n" +
			"[... 981 lines, 8737 bytes left out ...]\n" +
			"line 990\nline 991\nline 992\nline 993\nline 994\nline 995\nline 996\nline 997\nline 998\nline 999\n", 8737},
		{"one long line", strings.Repeat("é", 500), 128, strings.Repeat("é", 17) +
			"\n[... 0 lines, 914 bytes left out ...]\n" + strings.Repeat("é", 26), 914},
		{"invalid UTF-8", "caf\xe9 au lait", 200, "caf\ufffd au lait", 0},
		{"binary", "\x7fELF\x00\x01\x02", 200, "[binary output, 7 bytes, not shown]", 7},
		{"binary without NUL", strings.Repeat("\xff\xfe\x01\x02", 100), 200, "[binary output, 400 bytes, not shown]", 400},
		{"colours are text", "\x1b[31mred\x1b[0m", 200, "\x1b[31mred\x1b[0m", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, lost := tool.Bound(test.text, test.limit)
			if got != test.want || lost != test.lost {
				t.Errorf("lost %d, want %d; text\n%q, want\n%q", lost, test.lost, got, test.want)
			}
		})
	}
}

func TestExcerptCountsWhatWasMissingBefore(t *testing.T) {
	e := tool.Excerpt{Head: strings.Repeat("head\n", 100), Tail: strings.Repeat("tail\n", 100), Lines: 1_000_000, Bytes: 5_000_000}
	got, lost := e.Bound(300)
	head, tail := strings.Count(got, "head\n"), strings.Count(got, "tail\n")
	if len(got) > 300 || head == 0 || tail <= head {
		t.Errorf("%d bytes with %d lines of the head and %d of the tail", len(got), head, tail)
	}
	if want := int64(5_000_000 + 1000 - 5*(head+tail)); lost != want {
		t.Errorf("lost %d bytes, want %d", lost, want)
	}
	if want := fmt.Sprintf("[... %d lines, %d bytes left out ...]\n", 1_000_200-head-tail, lost); !strings.Contains(got, want) {
		t.Errorf("%q does not tell %q", got, want)
	}
	if got, _ := (tool.Excerpt{Head: "a\n", Tail: "b\n", Lines: 1, Bytes: 2}).Bound(300); got != "a\n[... 1 lines, 2 bytes left out ...]\nb\n" {
		t.Errorf("a short excerpt became %q", got)
	}
}

// Bound keeps to its limit, makes valid UTF-8, and leaves alone what it made.
func FuzzBound(f *testing.F) {
	f.Add("a\nb\n", 10)
	f.Add(strings.Repeat("line\n", 100), 150)
	f.Add(strings.Repeat("é", 200), 129)
	f.Add("\xff\xfe"+strings.Repeat("x\xc3", 300), 200)
	f.Add(strings.Repeat("\n", 1000), 128)
	f.Add(strings.Repeat("\x01\x02", 1000), 128)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got, lost := tool.Bound(text, limit)
		if len(got) > max(limit, 128) || !utf8.ValidString(got) || lost < 0 {
			t.Fatalf("%d bytes for a limit of %d, lost %d: %q", len(got), limit, lost, got)
		}
		if again, more := tool.Bound(got, limit); again != got || more != 0 {
			t.Fatalf("%q became %q, losing %d", got, again, more)
		}
	})
}
