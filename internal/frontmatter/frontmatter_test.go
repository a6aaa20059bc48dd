package frontmatter_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/internal/frontmatter"
)

func TestValues(t *testing.T) {
	front, body, err := frontmatter.Split("---\nname: a # b\ntools: [Read, 'Grep', \"Bash(go test, x)\"]\nrules:\n  - deny write(a, b)\n\n  - ask shell\n" +
		"plain: Read, Grep\ntext: |\n  one\n  two\nmap:\n  a: b\nempty:\n---\n\nThe body.\n---\n")
	if err != nil || body != "The body.\n---\n" {
		t.Fatalf("%q, %v", body, err)
	}
	want := map[string][]string{
		"name": {"a"}, "tools": {"Read", "Grep", "Bash(go test, x)"}, "rules": {"deny write(a, b)", "ask shell"}, "plain": {"Read", "Grep"},
		"text": {"one", "two"}, "map": {"a: b"}, "empty": nil,
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got := frontmatter.Items(front[key]); !slices.Equal(got, want[key]) {
			t.Errorf("%s: %q, want %q", key, got, want[key])
		}
	}
}
