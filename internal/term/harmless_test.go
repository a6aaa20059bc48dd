package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHarmless(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain text stays", "héllo wörld 日本語 👍\n\tindented\n", "héllo wörld 日本語 👍\n\tindented\n"},
		{"an escape sequence becomes text", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"a title is not set", "\x1b]0;title\x07", "␛]0;title␇"},
		{"the clipboard is not written", "\x1b]52;c;eA==\x1b\\", "␛]52;c;eA==␛\\"},
		{"a line is not overwritten", "rm -rf /\rls", "rm -rf /␍ls"},
		{"nothing is rubbed out", "secret\b\b\x7f", "secret␈␈␡"},
		{"eight-bit sequences too", "\u009b31mred", "\ufffd31mred"},
		{"the order of letters is theirs", "user\u202etxt.exe", "user\ufffdtxt.exe"},
		{"invalid bytes are replaced", "a\xffb", "a\ufffdb"},
		{"a null byte shows", "a\x00b", "a␀b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Harmless(c.text); got != c.want {
				t.Errorf("harmless(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestOneLineHasNoBreaks(t *testing.T) {
	if got, want := OneLine("  a\n\nb\tc \x1b[1m "), "a b c ␛[1m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzHarmless(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[2J", "\u009b", "a\xff\xc3", "\u2028", "e\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Harmless(text)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not valid UTF-8", got)
		}
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q of %q has control character %q", got, text, r)
			}
		}
		if again := Harmless(got); again != got {
			t.Fatalf("%q becomes %q", got, again)
		}
	})
}

func FuzzWholeRunes(f *testing.F) {
	f.Add("aé日👍", 1)
	f.Add("\xf0\x9f", 1)
	f.Add("\xff\xfe\x80", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(size&0xf, 1)
		var w WholeRunes
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			piece := w.Next(rest[:n])
			if utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("the piece %q cuts a rune of %q", piece, text)
			}
			got.WriteString(piece)
			rest = rest[n:]
		}
		got.WriteString(w.Flush())
		if got.String() != text {
			t.Fatalf("got %q, want %q", got.String(), text)
		}
	})
}

func TestFitKeepsALineFromWrapping(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 5, "too …"},
		{"日本語テキスト", 5, "日本…"},
		{"日本語", 6, "日本語"},
		{"⭐✅⌚", 5, "⭐✅…"},                       // emoji of the first plane
		{"שָׁלוֹם עוֹלָם", 9, "שָׁלוֹם עוֹלָם"}, // points of Hebrew take no room
		{"", 0, ""},
		{"x", 0, "…"},
	} {
		if got := Fit(c.text, c.width); got != c.want {
			t.Errorf("fit(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
