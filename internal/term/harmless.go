package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	eastasian "golang.org/x/text/width"
)

// Harmless returns text as it can be written to a terminal without moving its cursor, changing its colours, title or
// clipboard, or showing another order than it has: control characters become visible pictures of themselves, so that the
// rest of an escape sequence is plain text. Newlines and tabs stay.
func Harmless(text string) string {
	if clean(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for _, r := range text { // invalid bytes come as U+FFFD
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			b.WriteRune(picture(r))
		}
	}
	return b.String()
}

// OneLine is harmless text on one line: newlines and tabs become spaces, runs of blanks one space.
func OneLine(text string) string { return Harmless(strings.Join(strings.Fields(text), " ")) }

// clean reports whether text is what harmless makes of it.
func clean(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
		if r != '\n' && r != '\t' && picture(r) != r {
			return false
		}
	}
	return true
}

// picture is what stands for a rune that a terminal would act on; every other rune stands for itself.
func picture(r rune) rune {
	switch {
	case r < 0x20:
		return 0x2400 + r // CONTROL PICTURES
	case r == 0x7f:
		return 0x2421
	case r >= 0x80 && r < 0xa0, // C1: single characters that some terminals take for escape sequences
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, // bidirectional controls
		r == 0x2028, r == 0x2029:
		return utf8.RuneError
	default:
		return r
	}
}

// WholeRunes holds back the bytes of a rune that a stream has cut in two.
type WholeRunes struct{ rest string }

// Next returns the whole runes of what was held back and text.
func (w *WholeRunes) Next(text string) string {
	text = w.rest + text
	w.rest = ""
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		tail := text[len(text)-back:]
		if !utf8.RuneStart(tail[0]) {
			continue
		}
		if !utf8.FullRuneInString(tail) {
			w.rest, text = tail, text[:len(text)-back]
		}
		break
	}
	return text
}

// Flush returns what is held back: the beginning of a rune whose end never came.
func (w *WholeRunes) Flush() string {
	rest := w.rest
	w.rest = ""
	return rest
}

// cells is how many columns of a terminal a rune takes: two for what East Asian scripts and emoji take, none for
// combining marks. It is exact enough to keep a line from wrapping.
func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch eastasian.LookupRune(r).Kind() {
	case eastasian.EastAsianWide, eastasian.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cells is how many columns of a terminal a text takes. The colors of a [Palette] take none.
func Cells(text string) int {
	n, color := 0, false
	for _, r := range text {
		switch {
		case r == 0x1b:
			color = true
		case color:
			color = r != 'm'
		default:
			n += cells(r)
		}
	}
	return n
}

// Fit cuts text, which has no control characters, to width columns.
func Fit(text string, width int) string {
	if len(text) <= width {
		return text
	}
	used, cut := 0, 0 // cut: how many bytes fit with an ellipsis
	for i, r := range text {
		used += cells(r)
		if used > width {
			return text[:cut] + "…"
		}
		if used < width {
			cut = i + utf8.RuneLen(r)
		}
	}
	return text
}

// FirstLine is the first line of text that has words.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return OneLine(line)
}
