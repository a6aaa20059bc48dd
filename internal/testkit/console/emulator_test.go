package console

import (
	"strings"
	"testing"
)

// TestEmulator gives sequences to a terminal of 10 columns and 4 lines, and says what it must show.
func TestEmulator(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"wraps late", "0123456789", "0123456789"},
		{"wraps at the next character", "0123456789a", "0123456789\na"},
		{"does not wrap without the mode", "\x1b[?7l0123456789abc", "012345678c"},
		{"carriage return takes the wrap away", "0123456789\rx", "x123456789"},
		{"wide characters do not straddle", "012345678日", "012345678\n日"},
		{"half of a wide character goes with the other", "日本\x1b[2Gx", " x本"},
		{"and from the left", "日本\x1b[3Gx", "日x"},
		{"combining marks join", "e\u0301x", "e\u0301x"},
		{"at the right edge, too", "012345678e\u0301", "012345678e\u0301"},
		{"scrolls", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5"},
		{"scrolls in a region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nx", "1\n3\nx\n4"},
		{"scrolls a region down", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[2;1H\x1bMx", "1\nx\n2\n4"},
		{"SU and SD", "1\r\n2\r\n3\r\n4\x1b[2S\x1b[T", "\n3\n4"},
		{"inserts lines", "1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[2L", "1\n\n\n2"},
		{"deletes lines", "1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[2M", "1\n4"},
		{"erases characters", "0123456789\x1b[3G\x1b[4X", "01    6789"},
		{"erases the line", "0123456789\x1b[3G\x1b[K", "01"},
		{"erases the line before", "0123456789\x1b[3G\x1b[1K", "   3456789"},
		{"erases below", "1\r\n2\r\n3\x1b[2;1H\x1b[J", "1"},
		{"erases above", "1\r\n2\r\n3\x1b[2;1H\x1b[1J", "\n\n3"},
		{"inserts characters", "0123456789\x1b[3G\x1b[2@x", "01x 234567"},
		{"deletes characters", "0123456789\x1b[3G\x1b[2P", "01456789"},
		{"insert mode", "0123456789\x1b[3G\x1b[4hxy", "01xy234567"},
		{"repeats", "-\x1b[4b|", "-----|"},
		{"repeats wide characters", "日\x1b[2b|", "日日日|"},
		{"tabs", "a\tb\x1b[Zc", "a       c"},
		{"a tab does not erase", "0123456789\r\tx", "01234567x9"},
		{"draws lines", "\x1b(0lqk\x1b(Blqk", "┌─┐lqk"},
		{"saves the cursor", "ab\x1b7cd\x1b8x", "abxd"},
		{"the alternate screen is another", "main\x1b[?1049h\x1b[Hother\x1b[?1049lx", "mainx"},
		{"backspace", "abc\b\bx", "axc"},
		{"relative moves", "\x1b[2;3Hx\x1b[Ay\x1b[2Bz\x1b[5Dw", "   y\n  x\nw   z"},
		{"moves stop at the edges", "\x1b[99;99Hx\x1b[Hy", "y\n\n\n         x"},
		{"the title is no text", "\x1b]0;title\aa\x1b]2;other\x1b\\b", "ab"},
		{"an unknown string is no text", "a\x1b_anything\x1b\\b\x1bPxyz\x1b\\c\x1b^pm\x1b\\d", "abcd"},
		{"synchronized output", "\x1b[?2026habc\x1b[?2026l", "abc"},
		{"UTF-8 in pieces", "日本", "日本"},
		{"clusters of mode 2027", "\x1b[?2027h👩‍👩‍👧x❤️y", "👩‍👩‍👧x❤️y"},
	} {
		e := newEmulator(Size{10, 4}, Dark, func(string) {})
		for i := range len(c.in) { // one byte at a time
			e.write([]byte{c.in[i]})
		}
		if got := strings.TrimRight(e.screen().String(), "\n"); got != c.want {
			t.Errorf("%s: %q shows\n%s\nwant\n%s", c.name, c.in, got, c.want)
		}
	}
}

func TestWidths(t *testing.T) {
	for _, c := range []struct {
		in string
		x  int
	}{
		{"👩‍👩‍👧", 6}, {"\x1b[?2027h👩‍👩‍👧", 2}, {"❤️", 1}, {"\x1b[?2027h❤️", 2}, {"e\u0301", 1}, {"日本", 4}, {"\x1b[?2027h🇩🇪", 2}, {"\x1b[?2027h🇩🇪🇫🇷", 4},
	} {
		e := newEmulator(Size{20, 2}, Dark, func(string) {})
		e.write([]byte(c.in))
		if s := e.screen(); s.X != c.x {
			t.Errorf("%q ends in column %d, want %d", c.in, s.X, c.x)
		}
	}
}

func TestStyles(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Style
	}{
		{"\x1b[1;3;4;9m", Style{Bold: true, Italic: true, Underline: true, Strike: true}},
		{"\x1b[1;2m\x1b[22m", Style{}},
		{"\x1b[31;102m", Style{Foreground: "1", Background: "10"}},
		{"\x1b[38;5;200;7m", Style{Foreground: "200", Reverse: true}},
		{"\x1b[38;2;1;2;3;48;2;4;5;6m", Style{Foreground: "#010203", Background: "#040506"}},
		{"\x1b[38:2::1:2:3m", Style{Foreground: "#010203"}},
		{"\x1b[38:2:1:2:3m\x1b[48:5:7m", Style{Foreground: "#010203", Background: "7"}},
		{"\x1b[4:3;58;2;1;2;3m", Style{Underline: true}},
		{"\x1b[4m\x1b[4:0m", Style{}},
		{"\x1b[31m\x1b[m", Style{}},
	} {
		e := newEmulator(Size{10, 2}, Dark, func(string) {})
		e.write([]byte(c.in + "x"))
		if got := e.screen().Lines[0][0].Style; got != c.want {
			t.Errorf("%q: %+v, want %+v", c.in, got, c.want)
		}
		if len(e.unknown) > 0 {
			t.Errorf("%q: unknown %q", c.in, e.unknown)
		}
	}
}

func TestReplies(t *testing.T) {
	const queries = "ab\x1b[6n\x1b[c\x1b[?2026$p\x1b[?9999$p\x1b]11;?\x1b\\\x1b[?u\x1b[>5u\x1b[?u\x1b[<u"
	for answers, want := range map[Answers]string{
		Dark:   "\x1b[1;3R\x1b[?62;22;52c\x1b[?2026;2$y\x1b[?9999;0$y\x1b]11;rgb:1a1a/1a1a/1a1a\x1b\\\x1b[?0u\x1b[?5u",
		Light:  "\x1b[1;3R\x1b[?62;22;52c\x1b[?2026;2$y\x1b[?9999;0$y\x1b]11;rgb:f0f0/f0f0/f0f0\x1b\\\x1b[?0u\x1b[?5u",
		Silent: "",
	} {
		var got strings.Builder
		e := newEmulator(Size{10, 2}, answers, func(s string) { got.WriteString(s) })
		e.write([]byte(queries))
		if got.String() != want {
			t.Errorf("%v answers %q, want %q", answers, got.String(), want)
		}
	}
}

func TestUnknownSequences(t *testing.T) {
	for _, in := range []string{"\x1b[?12345h", "\x1b]4;1;red\a", "\x1bPhostile\x1b\\", "\x1b[5i", "\x1b_x\x1b\\", "\x01", "\x1b]11;#ff0000\a", "\x1b#8"} {
		e := newEmulator(Size{10, 2}, Dark, func(string) {})
		e.write([]byte(in))
		if len(e.unknown) != 1 {
			t.Errorf("%q: unknown are %q", in, e.unknown)
		}
	}
}

// TestFind returns columns, which are not bytes.
func TestFind(t *testing.T) {
	e := newEmulator(Size{10, 3}, Dark, func(string) {})
	e.write([]byte("\r\n日 e\u0301日x"))
	s := e.screen()
	if x, y, ok := s.Find("x"); x != 6 || y != 1 || !ok {
		t.Errorf("x is at %d,%d (%v)", x, y, ok)
	}
	if x, _, _ := s.Find("日x"); x != 4 {
		t.Errorf("the second wide character is at %d", x)
	}
	if f := s.Framed(); !strings.Contains(f, "|日 e\u0301日x   | <- cursor in column 7\n") {
		t.Errorf("framed:\n%s", f)
	}
}

// FuzzEmulator must hold for all bytes and sizes: no panic, and lines as wide as the screen.
func FuzzEmulator(f *testing.F) {
	f.Add("\x1b[2;3r\x1b[5L日\x1b[?1049h\x1b[99X", 10, 4)
	f.Add("日\x1b[@\x1b[P👩‍👩‍👧\x1b[?2027h❤️", 1, 1)
	f.Fuzz(func(t *testing.T, text string, width, height int) {
		size := Size{1 + width&31, 1 + height&31}
		e := newEmulator(size, Dark, func(string) {})
		e.write([]byte(text))
		e.resize(Size{size.Height, size.Width})
		e.write([]byte(text))
		s := e.screen()
		if len(s.Lines) != size.Width || s.Width() != size.Height || s.X < 0 || s.X >= size.Height || s.Y < 0 || s.Y >= size.Width {
			t.Fatalf("%d lines of %d columns, the cursor at %d,%d; want %v", len(s.Lines), s.Width(), s.X, s.Y, size)
		}
		for _, l := range s.Lines {
			if len(l) != size.Height || l[0].Tail {
				t.Fatalf("a line is %v", l)
			}
		}
	})
}
