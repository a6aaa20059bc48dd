package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine is the most bytes that [Line] returns.
const maxLine = 200

// Line returns text as one line for people, such as the Title of a [Call]: valid UTF-8 without control characters, with single spaces,
// cut with "…" after 200 bytes.
func Line(text string) string {
	cut := len(text) > 8*maxLine // a prefix is enough for one line
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text[:min(len(text), 8*maxLine)], "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) > maxLine {
		cut = true
		n := maxLine - len("…")
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	if cut {
		return strings.TrimRight(text, " \ufffd") + "…"
	}
	return text
}
