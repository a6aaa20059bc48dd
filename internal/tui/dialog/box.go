package dialog

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// Widths of the largest boxes: longer lines are hard to read.
const (
	usual  = 100
	widest = 150 // with a text next to a list
)

// lowest is the height of a dialog at the bottom that all its choices need. A higher terminal gives it two thirds, until the person wants to
// see the whole text.
const lowest = 19

// Box draws a dialog with border, title and footer, within width and height. The shell places it. A dialog at the bottom has the full
// width and only a rule above it; a screen reader gets lines without a border.
func Box(d Dialog, width, height int, t *theme.Theme) []string {
	lines := box(d, width, height, t)
	if t.ASCII {
		for i, line := range lines {
			lines[i] = strings.ReplaceAll(line, "…", "~")
		}
	}
	return lines
}

func box(d Dialog, width, height int, t *theme.Theme) []string {
	width, height = max(width, 1), max(height, 1)
	title, foot := t.Bold.Paint(fit(term.OneLine(d.Title()), width-8)), footer(d, t, width)
	switch {
	case height < 3 || width < 8:
		return clip(d.Lines(width, height), width, height)
	case d.common().o.Reader:
		lines := append([]string{title}, d.Lines(width, height-2)...)
		return clip(append(lines, foot), width, height)
	case d.Bottom():
		if l, ok := d.(interface{ large() bool }); !ok || !l.large() {
			height = max(min(height, lowest), height*2/3)
		}
		lines := append([]string{rule(t, title, "", "", width)}, d.Lines(width-2, height-2)...)
		for i := range lines[1:] {
			lines[i+1] = " " + lines[i+1]
		}
		return clip(append(lines, " "+foot), width, height)
	}
	w := min(max(usual, d.common().widest), width)
	foot = footer(d, t, w-6)
	lines := []string{rule(t, title, t.Glyph("╭", "+"), t.Glyph("╮", "+"), w)}
	side := t.Border.Paint(t.Glyph("│", "|"))
	for _, line := range d.Lines(w-4, height-2) {
		lines = append(lines, side+" "+pad(line, w-4)+" "+side)
	}
	lines = append(lines, rule(t, foot, t.Glyph("╰", "+"), t.Glyph("╯", "+"), w))
	return clip(lines, w, height)
}

// Inset returns the place of the first of a dialog's Lines in its Box.
func Inset(d Dialog, width, height int) (x, y int) {
	switch {
	case height < 3 || width < 8:
		return 0, 0
	case d.common().o.Reader:
		return 0, 1
	case d.Bottom():
		return 1, 1
	}
	return 2, 1
}

// rule is a horizontal line with a styled title and ends.
func rule(t *theme.Theme, title, left, right string, width int) string {
	dash := t.Glyph("─", "-")
	line := t.Border.Paint(left + dash)
	if title != "" {
		line += " " + ansi.Truncate(title, max(width-6, 0), "") + " "
	}
	rest := max(width-ansi.StringWidth(line)-ansi.StringWidth(right), 0)
	return line + t.Border.Paint(strings.Repeat(dash, rest)+right)
}

// footer is the hints on a line. If there is no place for all, it leaves out those before the last one.
func footer(d Dialog, t *theme.Theme, width int) string {
	var parts []string
	sum := 0
	between := t.Glyph(" · ", ", ")
	for _, h := range d.Hints() {
		if h.Key != "" {
			parts = append(parts, t.Text.Paint(h.Key)+" "+t.Dim.Paint(h.Words))
			sum += ansi.StringWidth(parts[len(parts)-1] + between)
		}
	}
	for sum-ansi.StringWidth(between) > width && len(parts) > 1 {
		i := len(parts) - 2
		sum -= ansi.StringWidth(parts[i] + between)
		parts = slices.Delete(parts, i, i+1)
	}
	return strings.Join(parts, t.Faint.Paint(between))
}
