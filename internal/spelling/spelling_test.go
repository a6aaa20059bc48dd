package spelling_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"run", "run", 0},
		{"rnu", "run", 1},  // swapped
		{"rum", "run", 1},  // changed
		{"ruun", "run", 1}, // one too many
		{"rn", "run", 1},   // one missing
		{"größe", "grösse", 2},
		{"path", "depth", 3},
		{strings.Repeat("x", 1000), "x", 63}, // no more than the beginning is looked at
	} {
		if got := spelling.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%.10q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if there, back := spelling.Distance(c.a, c.b), spelling.Distance(c.b, c.a); there != back {
			t.Errorf("%.10q and %q: %d there and %d back", c.a, c.b, there, back)
		}
	}
}
