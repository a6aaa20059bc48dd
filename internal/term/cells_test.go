package term

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestChop(t *testing.T) {
	for _, test := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 3, []string{""}},
		{"abcdefg", 3, []string{"abc", "def", "g"}},
		{"漢字かな", 3, []string{"漢", "字", "か", "な"}},
		{"a漢b", 1, []string{"a", "…", "b"}},
		{"\x1b[1mabcd\x1b[0mef", 3, []string{"\x1b[1mabc\x1b[0m", "\x1b[1md\x1b[0mef"}},
		{"\x1b]8;;http://x\x1b\\abcd\x1b]8;;\x1b\\", 2, []string{"\x1b]8;;http://x\x1b\\ab" + noLink, "\x1b]8;;http://x\x1b\\cd" + noLink}},
	} {
		if got := Chop(test.line, test.width); !slices.Equal(got, test.want) {
			t.Errorf("%q in %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestFlow(t *testing.T) {
	for _, test := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 3, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two   three", 7, []string{"one two", "three"}},
		{"  one two", 6, []string{"  one", "two"}},
		{"      wide", 5, []string{"", "wide"}},
		{"abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"漢字 かな", 4, []string{"漢字", "かな"}},
		{"a漢", 1, []string{"a", "…"}},
	} {
		if got := Flow(test.line, test.width); !slices.Equal(got, test.want) {
			t.Errorf("%q in %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestUntabbed(t *testing.T) {
	for text, want := range map[string]string{"a": "a", "\ta": "    a", "ab\tc\t\td": "ab  c       d", "漢\tx": "漢  x"} {
		if got := Untabbed(text, 4); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Of many marks on one character the first stay.
func TestHarmlessLimitsMarks(t *testing.T) {
	if got := Harmless("z" + strings.Repeat("\u0300", 5000) + "b"); got != "z"+strings.Repeat("\u0300", maxMarks)+"b" {
		t.Errorf("%d bytes", len(got))
	}
	for _, text := range []string{"👩‍👩‍👧‍👦", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "e\u0301\u0302", "ที่"} {
		if Harmless(text) != text {
			t.Errorf("%q changes", text)
		}
	}
}

// The pieces of a line fit and have all of its text; the width is that of the terminal library.
func FuzzLines(f *testing.F) {
	for _, line := range []string{"a b", "漢字 漢\u0301字", "👩‍👩‍👧‍👦 🇩🇪🇩", "  x  y", "\u200b\u0301e", "한국어\u1100\u1161"} {
		f.Add(line, 3)
	}
	f.Fuzz(func(t *testing.T, line string, width int) {
		line, width = strings.NewReplacer("\n", "", "\t", "").Replace(Harmless(line)), 2+(width&0x7fffffff)%50
		if Cells(line) != ansi.StringWidth(line) {
			t.Fatalf("%q takes %d, or %d", line, Cells(line), ansi.StringWidth(line))
		}
		all := func(lines []string) string {
			for _, l := range lines {
				if ansi.StringWidth(l) > width {
					t.Fatalf("%q of %q is wider than %d", l, line, width)
				}
			}
			return strings.Join(lines, "")
		}
		if got := all(Chop(line, width)); got != line {
			t.Fatalf("%q is %q", line, got)
		}
		if got := all(Flow(line, width)); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(line, " ", "") {
			t.Fatalf("%q is %q", line, got)
		}
		if got := Fit(line, width); ansi.StringWidth(got) > width {
			t.Fatalf("%q is %q", line, got)
		}
	})
}
