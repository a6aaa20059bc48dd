package markdown

import (
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/tenon-agent/tenon/internal/term"
)

// wrap breaks spans at blanks into lines of at most width columns. A word that is longer stays whole.
func wrap(spans []span, width int, p term.Palette) (lines []string) {
	var line, word []span
	used, wide := 0, 0 // columns of the line and of the word
	end := func() {
		lines = append(lines, written(line, p))
		line, used = nil, 0
	}
	place := func() {
		if len(word) == 0 {
			return
		}
		if used > 0 && used+1+wide > width {
			end()
		}
		if used > 0 {
			line = append(line, span{" ", joint(line, word)})
			used++
		}
		line = append(line, word...)
		used += wide
		word, wide = nil, 0
	}
	for _, s := range spans {
		if s.text == "\n" {
			place()
			end()
			continue
		}
		for i, part := range strings.FieldsFunc(" "+s.text+" ", func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }) {
			if i > 0 || strings.HasPrefix(s.text, " ") {
				place()
			}
			word = append(word, span{part, s.look})
			wide += term.Cells(part)
		}
		if strings.HasSuffix(s.text, " ") {
			place()
		}
	}
	place()
	if len(line) > 0 || len(lines) == 0 {
		end()
	}
	return lines
}

// joint is the look of the blank between two words: that of both.
func joint(before, after []span) look { return before[len(before)-1].look & after[0].look }

// written writes spans; neighbors with one look share its codes.
func written(spans []span, p term.Palette) string {
	var b strings.Builder
	for i := 0; i < len(spans); {
		text, from := "", spans[i].look
		for ; i < len(spans) && spans[i].look == from; i++ {
			text += spans[i].text
		}
		b.WriteString(style(p, from, text))
	}
	return b.String()
}

// table draws a table with aligned columns, or a row after the other if it is too wide.
func (d *drawing) table(t *extast.Table, width int) {
	var rows [][]string
	var sizes []int
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		base := look(0)
		if _, head := row.(*extast.TableHeader); head {
			base = bold
		}
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			spans := d.spans(cell, base)
			cells = append(cells, strings.ReplaceAll(written(spans, d.palette), "\n", " "))
			if i := len(cells) - 1; i == len(sizes) {
				sizes = append(sizes, 0)
			}
			sizes[len(cells)-1] = max(sizes[len(cells)-1], term.Cells(plain(spans)))
		}
		rows = append(rows, cells)
	}
	all := 0
	for _, n := range sizes {
		all += n + 2
	}
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			if all-2 > width {
				b.WriteString(map[bool]string{true: "", false: " | "}[j == 0] + cell)
				continue
			}
			b.WriteString(cell)
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", sizes[j]-visible(cell)+2))
			}
		}
		d.lines = append(d.lines, b.String())
		if i == 0 && all-2 <= width {
			d.lines = append(d.lines, d.palette.Dim(strings.Repeat("─", all-2)))
		}
	}
}

// visible is how many columns a written cell takes.
func visible(cell string) int {
	n, escape := 0, false
	for _, r := range cell {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n += term.Cells(string(r))
		}
	}
	return n
}
