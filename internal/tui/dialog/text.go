package dialog

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

const (
	tab       = "    "
	mostMarks = 3 // combining marks on a letter
)

// plainly returns a text in which nothing is invisible: characters without width, blanks that are no spaces and piles of combining marks
// become their code point. A command in a permission dialog looks like what it is.
func plainly(text string) string {
	var b strings.Builder
	marks := 0
	for _, r := range term.Harmless(text) {
		mark := unicode.In(r, unicode.Mn, unicode.Me)
		if marks++; !mark {
			marks = 0
		}
		switch {
		case r == '\t':
			b.WriteString(tab)
		case r != '\n' && (hidden(r) || marks > mostMarks || mark && b.Len() == 0):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether a character has no picture of its own.
func hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Zs, unicode.Zl, unicode.Zp):
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x34f, r == 0x17b4, r == 0x17b5, r == 0x2800,
		r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0000 && r <= 0xe0fff, r >= 0x180b && r <= 0x180f:
		return true
	}
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

// fold breaks a text into lines of at most width cells, and keeps every character.
func fold(text string, width int) []string {
	return strings.Split(ansi.Hardwrap(strings.TrimRight(text, "\n"), max(width, 1), true), "\n")
}

// wrap breaks a text at blanks into lines of at most width cells.
func wrap(text string, width int) []string {
	text = strings.ReplaceAll(term.Harmless(strings.TrimRight(text, "\n")), "\t", tab)
	return strings.Split(ansi.Wrap(text, max(width, 1), ""), "\n")
}

// fit cuts a plain or styled line to a width.
func fit(line string, width int) string { return ansi.Truncate(line, max(width, 0), "…") }

// pad cuts or fills a line to a width.
func pad(line string, width int) string {
	line = fit(line, width)
	return line + strings.Repeat(" ", max(width-ansi.StringWidth(line), 0))
}

// padLeft fills a line at its left.
func padLeft(line string, width int) string {
	line = fit(line, width)
	return strings.Repeat(" ", max(width-ansi.StringWidth(line), 0)) + line
}

// clip bounds lines.
func clip(lines []string, width, height int) []string {
	lines = lines[:min(len(lines), max(height, 0))]
	for i, line := range lines {
		if ansi.StringWidth(line) > width {
			lines[i] = fit(line, width)
		}
	}
	return lines
}

// cut returns the first lines, and marks that there are more.
func cut(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	lines = lines[:most]
	lines[most-1] += "…"
	return lines
}

// painted paints each line.
func painted(s theme.Style, lines []string) []string {
	for i, line := range lines {
		lines[i] = s.Paint(line)
	}
	return lines
}

// window returns the first of count lines to show in a height, so that the line at is visible and the start moves little.
func window(start, at, count, height int) int {
	start = min(start, at)
	start = max(start, at-height+1)
	return max(min(start, count-height), 0)
}
