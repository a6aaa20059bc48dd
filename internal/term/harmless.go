package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Harmless returns text as it can be written to a terminal without moving its cursor, changing its colours, title or
// clipboard, or showing another order than it has: control characters become visible pictures of themselves, so that the
// rest of an escape sequence is plain text. Newlines and tabs stay. Of many marks on one character it keeps the first.
func Harmless(text string) string {
	if clean(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	marks := 0
	for _, r := range text { // invalid bytes come as U+FFFD
		switch marks = marksAfter(marks, r); {
		case marks > maxMarks:
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		default:
			b.WriteRune(picture(r))
		}
	}
	return b.String()
}

// OneLine is harmless text on one line: newlines and tabs become spaces, runs of blanks one space.
func OneLine(text string) string { return Harmless(strings.Join(strings.Fields(text), " ")) }

// clean reports whether text is what harmless makes of it.
func clean(text string) bool {
	marks := 0
	for i, r := range text {
		if r >= 0x20 && r < 0x7f {
			marks = 0
			continue
		}
		if marks = marksAfter(marks, r); marks > maxMarks {
			return false
		}
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

// maxMarks is how many characters without a width may follow each other. Emoji of several characters and all scripts need fewer.
const maxMarks = 12

// marksAfter counts the characters without a width up to r.
func marksAfter(marks int, r rune) int {
	if r >= 0x300 && (r < 0x3000 || r >= 0xa000) && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return marks + 1
	}
	return 0
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

// FirstLine is the first line of text that has words.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return OneLine(line)
}
