package cli

import "testing"

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
		if got := nearest(c.word, names); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(1, "line"), "1 line"},
		{count(0, "line"), "0 lines"},
		{count(2, "entry"), "2 entries"},
		{tokens(9999), "9999"},
		{tokens(12_345), "12k"},
		{tokens(1_234_567), "1.2M"},
		{dollars(0.0012), "$0.0012"},
		{dollars(1.5), "$1.50"},
		{seconds(0), "<1ms"},
		{seconds(12_345_678), "12ms"},
		{seconds(1_500_000_000), "1.5s"},
		{seconds(3_000_000_000), "3s"},
		{seconds(59_900_000_000), "59s"},
		{seconds(61_000_000_000), "1m1s"},
		{count(lines(""), "line"), "0 lines"},
		{count(lines("a\nb"), "line"), "2 lines"},
		{count(lines("a\nb\n"), "line"), "2 lines"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
