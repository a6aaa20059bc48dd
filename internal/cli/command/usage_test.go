package command

import (
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"run", "sessions", "version", "completion", "help"}
	for _, c := range []struct{ word, want string }{
		{"rnu", "run"}, // neighbours swapped
		{"rum", "run"},
		{"session", "sessions"},
		{"versoin", "version"},
		{"completon", "completion"},
		{"xyzzy", ""},
		{"", ""},
		{"r", ""},
	} {
		if got := Nearest(c.word, names); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}
