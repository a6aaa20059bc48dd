package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/transcript"
)

func (p *Picker[T]) Cursor() (x, y int, ok bool) { return p.x, p.y, p.typing }

// detailFrom is the width from which the detail is next to the list.
const detailFrom = 96

func (p *Picker[T]) Lines(width, height int) []string {
	p.typing = false
	var lines []string
	if p.list.Head != nil {
		lines = append(lines, p.list.Head(width)...)
	}
	lines = append(lines, p.line(width, len(lines))...)
	room := height - len(lines)
	row, ok := p.Focus()
	side := ok && p.widest > 0
	switch {
	case room <= 0:
	case side && p.detail && row.Detail != "":
		lines = append(lines, p.about(row, width, room)...)
	case side && width >= detailFrom && !p.o.Reader:
		left := width * 6 / 10
		list, about := p.body(left, room), p.about(row, width-left-3, room)
		bar := p.o.Theme.Border.Paint(p.o.Theme.Glyph("│", "|"))
		for i := range max(len(list), len(about)) {
			lines = append(lines, pad(at(list, i), left)+" "+bar+" "+at(about, i))
		}
	default:
		lines = append(lines, p.body(width, room)...)
	}
	if p.tall.width != width || p.filter.Text() == "" {
		p.tall = size{width, len(lines)}
	}
	for len(lines) < min(p.tall.height, height) && !p.o.Reader {
		lines = append(lines, "")
	}
	return clip(lines, width, height)
}

// size is a number of columns and lines.
type size struct{ width, height int }

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// line returns the filter, or the question of a key.
func (p *Picker[T]) line(width, y int) []string {
	t := p.o.Theme
	row, _ := p.Focus()
	switch {
	case p.ask != nil && p.ask.Input != nil:
		return p.write(p.input, width, y, transcript.Capital(p.ask.Words)+": ", "")
	case p.ask != nil:
		return painted(t.Warn, wrap(term.OneLine(p.ask.Confirm(row.Value)), width))
	case p.list.Fixed:
		return nil
	}
	return p.write(p.filter, width, y, t.Glyph("› ", "> "), "type to filter")
}

// write draws a field on a line, and takes the cursor from it.
func (p *Picker[T]) write(f field, width, y int, mark, empty string) []string {
	line := f.draw(width, 1, mark, empty)
	p.x, _, p.typing = f.Cursor()
	p.y = y
	return line
}

// about returns the detail of a row.
func (p *Picker[T]) about(row Row[T], width, height int) []string {
	if p.pages == nil {
		p.pages = newPager(p.o, func(width int) []string {
			if p.list.Draw != nil {
				return p.list.Draw(row.Value, width)
			}
			return painted(p.o.Theme.Text, wrap(row.Detail, width))
		})
		p.pages.open = true
	}
	return p.pages.draw(width, height)
}

// body returns the rows around the focus.
func (p *Picker[T]) body(width, height int) []string {
	t := p.o.Theme
	switch {
	case p.loading != "":
		return []string{t.Dim.Paint(p.loading + t.Glyph(" …", " ..."))}
	case p.failed != "":
		return painted(t.Bad, wrap(p.failed, width))
	case len(p.rows) == 0:
		return painted(t.Dim, wrap(cmp.Or(p.list.Empty, "nothing here"), width))
	case len(p.shown) == 0:
		return []string{t.Dim.Paint(fmt.Sprintf("no match among %d", len(p.rows)))}
	}
	p.grid.fit(width - 2)
	var lines []string
	if heads := p.grid.heads(width - 2); heads != "" && !p.o.Reader && height > 3 {
		lines = append(lines, "  "+t.Dim.Paint(heads))
	}
	height -= len(lines)
	p.page = max(height-1, 1)
	var all []int // indexes of shown; -1 - index: the heading of that row
	focus := 0
	for i, r := range p.shown {
		section, filtered := p.rows[r].Section, p.filter.Text() != ""
		if filtered && i == len(p.hits) || !filtered && section != "" && (i == 0 || p.rows[p.shown[i-1]].Section != section) {
			all = append(all, -1-i)
		}
		if i == p.at {
			focus = len(all)
		}
		all = append(all, i)
	}
	p.top = window(p.top, focus, len(all), height)
	if p.top > 0 && p.top == focus && all[p.top-1] < 0 && height > 1 {
		p.top--
	}
	for _, i := range all[p.top:min(p.top+height, len(all))] {
		if i < 0 {
			section := "In the text"
			if p.filter.Text() == "" {
				section = p.rows[p.shown[-1-i]].Section
			}
			lines = append(lines, t.Heading.Paint(fit(term.OneLine(section), width)))
			continue
		}
		lines = append(lines, p.row(p.rows[p.shown[i]], i, width))
	}
	return lines
}

// row draws a row.
func (p *Picker[T]) row(r Row[T], i, width int) string {
	t := p.o.Theme
	focused := i == p.at
	if p.o.Reader {
		text := term.OneLine(strings.Join(slices.DeleteFunc(slices.Clone(r.Cells), func(c string) bool { return c == "" }), ", "))
		if r.Current {
			text += ", current"
		}
		if r.Off != "" {
			text += ", not available: " + term.OneLine(r.Off)
		}
		if focused {
			text = fmt.Sprintf("> %s (%d of %d)", text, i+1, len(p.shown))
		}
		return fit(text, width)
	}
	mark := "  "
	switch {
	case focused:
		mark = t.Glyph("› ", "> ")
	case r.Current:
		mark = t.Glyph("● ", "* ")
	}
	var hits []int
	if i < len(p.hits) && r.Off == "" {
		hits = p.hits[i]
	}
	line := p.grid.line(r.Cells, hits, t.Match, width-2)
	switch {
	case r.Off != "":
		first := term.OneLine(at(r.Cells, 0))
		if len(p.grid.fitted) > 0 {
			first = pad(first, p.grid.fitted[0])
		}
		line = fit(first+"  "+term.OneLine(r.Off), width-2)
		if line = t.Faint.Paint(line); focused {
			return t.Selected.Bar(t.Accent.Paint(mark)+line, width)
		}
	case focused:
		return t.Selected.Bar(t.Accent.Paint(mark)+t.Bold.Over(line), width)
	case r.Current:
		return t.Good.Paint(mark) + t.Text.Over(line)
	default:
		line = t.Text.Over(line)
	}
	return t.Accent.Paint(mark) + line
}

// grid lays cells out in columns.
type grid struct {
	columns []Column
	widths  []int // of the widest cells
	fitted  []int // the same for the newest width; 0: the column is not visible
}

// measure takes the widths from rows.
func (g *grid) measure(rows int, cells func(row int) []string) {
	g.widths = make([]int, len(g.columns))
	for i, c := range g.columns {
		g.widths[i] = len(c.Head)
		for r := range rows {
			g.widths[i] = max(g.widths[i], ansi.StringWidth(term.OneLine(at(cells(r), i))))
		}
	}
}

// heads returns the headings; empty if no column has one.
func (g *grid) heads(width int) string {
	var heads []string
	for _, c := range g.columns {
		heads = append(heads, c.Head)
	}
	return strings.TrimRight(g.line(heads, nil, "", width), " ")
}

// narrow is the width to which a column shrinks before other columns disappear.
const narrow = 24

// fit distributes a width among the columns: wide ones shrink, then some disappear, and then all shrink.
func (g *grid) fit(width int) {
	g.fitted = slices.Clone(g.widths)
	for len(g.fitted) > 0 {
		sum, least, widest, drop := -2, -2, 0, -1
		for i, w := range g.fitted {
			if w == 0 {
				continue
			}
			sum, least = sum+w+2, least+min(w, narrow)+2
			if w > g.fitted[widest] {
				widest = i
			}
			if d := g.columns[i].Drop; d > 0 && (drop < 0 || d > g.columns[drop].Drop) {
				drop = i
			}
		}
		switch {
		case sum <= width || g.fitted[widest] <= 1:
			return
		case least > width && drop >= 0:
			g.fitted[drop] = 0
		default:
			g.fitted[widest]--
		}
	}
}

// line lays a row out. Hits are the matched bytes of the first cell.
func (g *grid) line(cells []string, hits []int, match theme.Style, width int) string {
	var b strings.Builder
	for i, w := range g.fitted {
		if w == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		cell := term.OneLine(at(cells, i))
		if i == 0 && cell == at(cells, 0) {
			cell = marked(cell, hits, match)
		}
		if g.columns[i].Right {
			b.WriteString(padLeft(cell, w))
		} else {
			b.WriteString(pad(cell, w))
		}
	}
	return fit(b.String(), width)
}

// marked paints some bytes of a text, as whole characters.
func marked(text string, hits []int, s theme.Style) string {
	var b strings.Builder
	for i, r := range text {
		if slices.Contains(hits, i) {
			b.WriteString(s.Paint(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
