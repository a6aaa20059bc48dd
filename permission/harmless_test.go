package permission

import (
	"os"
	"strings"
	"testing"
)

// listed reads a list of commands of testdata.
func listed(t testing.TB, file string) (all []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, written.Replace(line))
		}
	}
	return all
}

// Of the harmless commands of every day, at most one in twenty needs approval.
func TestHarmless(t *testing.T) {
	p := policy(t, AskMode)
	all := listed(t, "harmless.txt")
	asks := 0
	for _, line := range all {
		if v := p.Judge(p.Command(line)); v.Action != Allow {
			asks++
			t.Logf("%s\n\t%s", line, v.Reason)
		}
	}
	if t.Logf("%d of %d need approval", asks, len(all)); len(all) < 300 || asks*20 > len(all) {
		t.Errorf("%d of %d need approval, want at most one in twenty of at least 300", asks, len(all))
	}
}
