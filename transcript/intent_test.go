package transcript

import (
	"strings"
	"testing"
)

var intentCases = []struct{ name, text, want string }{
	{"none", "just an answer", "just an answer"},
	{"at the beginning", "<intent>look around</intent>\n\nThe answer.", "The answer."},
	{"in the middle", "First. <intent>x</intent> Second.", "First. Second."},
	{"alone", "<intent>x</intent>", ""},
	{"two", "<intent>a</intent><intent>b</intent>c", "c"},
	{"over lines", "<intent>a\nb</intent>\nc", "c"},
	{"without an end it is shown", "use the <intent> tag", "use the <intent> tag"},
	{"an end without a beginning is shown", "a</intent>b", "a</intent>b"},
	{"almost a tag is shown", "a < b, <int>, <intents>", "a < b, <int>, <intents>"},
	{"a beginning at the end is shown", "x <inte", "x <inte"},
	{"too long to be one", "<intent>" + strings.Repeat("x", maxIntent+1) + "</intent>y", "<intent>" + strings.Repeat("x", maxIntent+1) + "</intent>y"},
}

func TestIntentIsNotShown(t *testing.T) {
	for _, c := range intentCases {
		t.Run(c.name, func(t *testing.T) {
			if got := WithoutIntent(c.text); got != c.want {
				t.Errorf("got %.80q, want %.80q", got, c.want)
			}
		})
	}
}

func TestIntentIsNotShownWhileItStreams(t *testing.T) {
	for _, c := range intentCases {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= min(len(c.text), 24); size++ {
				if got := inPieces(c.text, size); got != c.want {
					t.Errorf("in pieces of %d: got %.80q, want %.80q", size, got, c.want)
				}
			}
		})
	}
}

func TestTextBeforeATagIsNotHeldBack(t *testing.T) {
	var f IntentFilter
	if got := f.Next("Hello <b>"); got != "Hello <b>" {
		t.Errorf("got %q at once", got)
	}
	if got := f.Next(" <in"); got != " " {
		t.Errorf("got %q, want what is no part of a tag", got)
	}
}

func FuzzIntentInPieces(f *testing.F) {
	for _, c := range intentCases {
		if len(c.text) < 100 {
			f.Add(c.text, 3)
		}
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(size&0x1f, 1)
		if got, want := inPieces(text, size), WithoutIntent(text); got != want {
			t.Errorf("in pieces of %d: got %q, want %q", size, got, want)
		}
	})
}

// inPieces is what is shown of a text that comes in pieces of size bytes.
func inPieces(text string, size int) string {
	var f IntentFilter
	var b strings.Builder
	for text != "" {
		n := min(size, len(text))
		b.WriteString(f.Next(text[:n]))
		text = text[n:]
	}
	b.WriteString(f.Flush())
	return b.String()
}
