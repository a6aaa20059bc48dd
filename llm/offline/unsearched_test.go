package offline

import (
	"strings"
	"testing"
)

// A search leaves large files out. An answer that rests on it says so rather than that there is nothing.
func TestWhatWasNotSearchedIsSaid(t *testing.T) {
	const large = 17 << 20
	b := newBench(t, map[string]string{"large.txt": strings.Repeat("needle\n", large/7), "a.txt": "foo\n"})
	for _, say := range []string{
		"search for needle", "count occurrences of needle", "count occurrences of foo", "replace needle with x in large.txt", "replace foo with bar everywhere",
	} {
		if got := b.say(t, say); !strings.Contains(got, "Not searched: large.txt (larger than 16 MB).") {
			t.Errorf("%s: %q", say, got)
		}
	}
}
