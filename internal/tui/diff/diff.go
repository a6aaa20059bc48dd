// Package diff draws unified diffs on a terminal: with line numbers, the changed words, and the colors of code.
package diff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/internal/highlight"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// Options are the looks of a diff.
type Options struct {
	Path    string // of the file, for the colors of code; empty: that in the diff, which the drawing then shows
	Split   bool   // old and new next to each other, if the width allows it
	Context int    // unchanged lines around a change; 0: 3
	Max     int    // lines; 0: all. A last line says how many there are further
}

const (
	splitWidth  = 140     // from which old and new are next to each other
	numberWidth = 24      // from which lines have numbers
	maxLine     = 4 << 10 // bytes of a line; the rest is cut
)

// drawing is the lines of a diff.
type drawing struct {
	t       *theme.Theme
	o       Options
	width   int
	digits  int // of a line number; 0: no numbers
	lang    string
	changes changes
	lines   []string
}

// Lines draws a unified diff. No line is wider than width.
func Lines(text string, width int, t *theme.Theme, o Options) []string {
	if o.Context <= 0 {
		o.Context = 3
	}
	d := &drawing{t: t, o: o, width: max(width, 1), lang: highlight.Language(o.Path)}
	p := parser{rest: text}
	d.digits = digits(text)
	if width < numberWidth {
		d.digits = 0
	}
	for p.next() {
		d.block(p.block)
		if o.Max > 0 && (len(d.lines) > o.Max || len(d.lines) == o.Max && p.rest != "") {
			more := p.count() + len(d.lines) - o.Max + 1
			d.lines = d.lines[:max(o.Max-1, 0)]
			d.add(t.Faint.Paint(t.Glyph("… ", "... ") + strconv.Itoa(more) + " more lines"))
			break
		}
	}
	return d.lines
}

// add adds a line. It cuts the line if it is too wide.
func (d *drawing) add(line string) {
	if term.Cells(line) > d.width {
		line = term.Chop(line, d.width)[0]
	}
	d.lines = append(d.lines, line)
}

// block draws rows that belong together.
func (d *drawing) block(b block) {
	switch b.kind {
	case file:
		if d.o.Path == "" {
			d.lang = highlight.Language(b.title)
		}
		if b.further || d.o.Path == "" {
			d.add(d.t.Bold.Paint(term.OneLine(b.title)))
		}
	case gap:
		d.add(d.t.Faint.Paint(strings.TrimRight(d.t.Glyph("⋯ ", "... ")+term.OneLine(b.title), " ")))
	case remark:
		d.add(d.t.Faint.Paint(term.OneLine(b.title)))
	case same:
		d.unchanged(b)
	case changed:
		partners := d.changes.words(b.old, b.now)
		if d.split() {
			d.pairs(b, partners)
			return
		}
		for _, r := range slices.Concat(b.old, b.now) {
			d.row(r)
		}
	}
}

// pairs draws removed and added rows next to each other. Rows without a partner fill the places between the others.
func (d *drawing) pairs(b block, partners []int) {
	i, j := 0, 0
	upTo := func(endI, endJ int) {
		left, right := b.old[i:endI], b.now[j:endJ]
		for n := range max(len(left), len(right)) {
			d.pair(at(left, n), at(right, n))
		}
		i, j = endI, endJ
	}
	for from, to := range partners {
		if to >= 0 {
			upTo(from, to)
			upTo(from+1, to+1)
		}
	}
	upTo(len(b.old), len(b.now))
}

func at[T any](list []T, i int) (none T) {
	if i < len(list) {
		return list[i]
	}
	return none
}

func (d *drawing) split() bool { return d.o.Split && d.width >= splitWidth }

// unchanged draws rows that are the same in both files. It folds many of them.
func (d *drawing) unchanged(b block) {
	rows, before, after := b.now, d.o.Context, d.o.Context
	if b.first {
		before = 0
	}
	if b.last {
		after = 0
	}
	folded := len(rows) - before - after
	for i, r := range rows {
		if folded > 1 && i >= before && i < before+folded {
			if i == before {
				d.add(d.t.Faint.Paint(d.t.Glyph("⋯ ", "... ") + strconv.Itoa(folded) + " unchanged lines"))
			}
			continue
		}
		if d.split() {
			d.pair(r, r)
		} else {
			d.row(r)
		}
	}
}

// number returns a line number with blanks, or only blanks for 0.
func (d *drawing) number(n int) string {
	text := ""
	if n > 0 {
		text = strconv.Itoa(n)
	}
	return strings.Repeat(" ", max(d.digits-len(text), 0)) + text + " "
}

// row draws a line of one of the files in the whole width.
func (d *drawing) row(r row) {
	gutter := ""
	if d.digits > 0 {
		gutter = d.number(r.old) + d.number(r.now)
	}
	for _, line := range d.numbered(r, gutter, d.width) {
		d.add(line)
	}
}

// pair draws a line of both files next to each other.
func (d *drawing) pair(old, now row) {
	const divider = 3
	half := (d.width - divider) / 2
	left, right := d.numbered(old, d.number(old.old), half), d.numbered(now, d.number(now.now), half)
	for i := range max(len(left), len(right)) {
		l := at(left, i)
		l += strings.Repeat(" ", max(half-term.Cells(l), 0))
		d.add(l + " " + d.t.Faint.Paint(d.t.Glyph("│", "|")) + " " + at(right, i))
	}
}

// numbered draws a row in lines of a width, the first with its numbers.
func (d *drawing) numbered(r row, gutter string, width int) (lines []string) {
	if r.sign == 0 {
		return nil
	}
	for _, line := range d.cells(r, width-len(gutter)) {
		lines = append(lines, d.t.Faint.Paint(gutter)+line)
		gutter = strings.Repeat(" ", len(gutter))
	}
	return lines
}

// cells draws the sign and the text of a row in lines of a width.
func (d *drawing) cells(r row, width int) []string {
	base, word := theme.Style(""), theme.Style("")
	switch r.sign {
	case '+':
		base, word = d.t.Added, d.t.AddedWord
	case '-':
		base, word = d.t.Removed, d.t.RemovedWord
	}
	var spans []highlight.Span
	if r.sign == ' ' || strings.Contains(string(d.t.Added), "48;") {
		spans, _ = highlight.Line(d.lang, 0, r.text)
	}
	text := Paint(d.t, r.text, spans, r.words, word)
	width = max(width, 1)
	if width <= 2 {
		return painted(base, term.Chop(string(r.sign)+text, width), width)
	}
	lines := term.Chop(text, width-2)
	for i, line := range lines {
		lead := "  "
		if i == 0 {
			lead = string(r.sign) + " "
		}
		lines[i] = lead + line
	}
	return painted(base, lines, width)
}

func painted(style theme.Style, lines []string, width int) []string {
	if style == "" {
		return lines
	}
	for i, line := range lines {
		if strings.Contains(string(style), "48;") {
			lines[i] = style.Bar(line, width)
		} else {
			lines[i] = style.Over(line)
		}
	}
	return lines
}

// Paint paints the spans of a line of code, and words, which are pairs of offsets, over them.
func Paint(t *theme.Theme, text string, spans []highlight.Span, words []int, word theme.Style) string {
	if len(spans) == 0 && len(words) == 0 {
		return text
	}
	styles := [...]theme.Style{
		highlight.Keyword: t.Keyword, highlight.String: t.String, highlight.Comment: t.Comment, highlight.Number: t.Number,
		highlight.Type: t.TypeName, highlight.Added: t.Good, highlight.Removed: t.Bad,
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		for len(spans) > 0 && spans[0].End <= i {
			spans = spans[1:]
		}
		for len(words) > 0 && words[1] <= i {
			words = words[2:]
		}
		end, style := len(text), theme.Style("")
		if len(spans) > 0 {
			if end = min(end, spans[0].Start); spans[0].Start <= i {
				end, style = spans[0].End, styles[spans[0].Kind]
			}
		}
		if len(words) > 0 {
			if words[0] <= i {
				end, style = min(end, words[1]), word.With(style)
			} else {
				end = min(end, words[0])
			}
		}
		b.WriteString(style.Paint(text[i:end]))
		i = end
	}
	return b.String()
}
