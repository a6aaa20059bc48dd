package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Count returns a number with its noun in singular or plural: "1 line", "3 matches", "0 entries".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return fmt.Sprintf("%d %sries", n, stem)
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Clip cuts a text after most characters and marks the cut with "…".
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if runes := []rune(text[:min(len(text), utf8.UTFMax*(most+1))]); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Part returns the bounds of the part of a text that begins at offset and has at most limit bytes. It ends after a line, unless that
// halves it, and never within a rune.
func Part(text string, offset, limit int) (first, last int) {
	for first = min(max(offset, 0), len(text)); first < len(text) && !utf8.RuneStart(text[first]); {
		first++
	}
	if last = first + max(limit, 0); last >= len(text) {
		return first, len(text)
	}
	for last > first && !utf8.RuneStart(text[last]) {
		last--
	}
	if line := strings.LastIndexByte(text[first:last], '\n') + 1; line > (last-first)/2 {
		last = first + line
	}
	return first, last
}
