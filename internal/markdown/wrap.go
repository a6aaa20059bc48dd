package markdown

import (
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/tenon-agent/tenon/internal/term"
)

// wrap breaks spans at blanks into lines of at most width columns. A word that is longer stays whole.
func wrap(spans []span, width int, p Styles) (lines []string) {
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
			line = append(line, joint(line, word))
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
			word = append(word, span{part, s.look, s.to})
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

// joint is the blank between two words. It has the looks of both.
func joint(before, after []span) span {
	a, b := before[len(before)-1], after[0]
	blank := span{text: " ", look: a.look & b.look}
	if a.to == b.to {
		blank.to = a.to
	}
	return blank
}

// written writes spans; neighbors with one look share its codes.
func written(spans []span, p Styles) string {
	var b strings.Builder
	for i := 0; i < len(spans); {
		same := spans[i]
		for i++; i < len(spans) && spans[i].look == same.look && spans[i].to == same.to; i++ {
			same.text += spans[i].text
		}
		b.WriteString(p.style(same))
	}
	return b.String()
}

// narrowest is the width of a column that is cut to fit the table; in less, words do not fit.
const narrowest = 8

// table draws a table with aligned columns. Cells wrap if it is too wide; if there is no space for its columns, it is a row after the other.
func (d *drawing) table(t *extast.Table, width int) {
	var rows [][][]span
	var sizes []int
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		base := look(0)
		if _, head := row.(*extast.TableHeader); head {
			base = bold
		}
		var cells [][]span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			spans := d.spans(cell, base)
			cells = append(cells, spans)
			if i := len(cells) - 1; i == len(sizes) {
				sizes = append(sizes, 0)
			}
			sizes[len(cells)-1] = max(sizes[len(cells)-1], term.Cells(plain(spans)))
		}
		rows = append(rows, cells)
	}
	all, fits := shrink(sizes, width)
	for i, row := range rows {
		if !fits {
			var cells []string
			for _, cell := range row {
				cells = append(cells, strings.ReplaceAll(written(cell, d.styles), "\n", " "))
			}
			d.lines = append(d.lines, strings.Join(cells, " | "))
			continue
		}
		var cells [][]string
		high := 1
		for j, cell := range row {
			cells = append(cells, wrap(cell, sizes[j], d.styles))
			high = max(high, len(cells[j]))
		}
		for k := range high {
			var b strings.Builder
			for j, lines := range cells {
				line := ""
				if k < len(lines) {
					line = lines[k]
				}
				if b.WriteString(line); j < len(cells)-1 {
					b.WriteString(strings.Repeat(" ", max(sizes[j]-term.Cells(line), 0)+2))
				}
			}
			d.lines = append(d.lines, strings.TrimRight(b.String(), " "))
		}
		if i == 0 {
			d.lines = append(d.lines, d.styles.rule(all))
		}
	}
}

// shrink makes the widest columns narrower until they fit with two blanks between them. It returns the width of all.
func shrink(sizes []int, width int) (all int, fits bool) {
	all = 2 * (len(sizes) - 1)
	least := all
	for i, n := range sizes {
		least += min(n, narrowest)
		sizes[i] = min(n, max(width, narrowest))
		all += sizes[i]
	}
	if least > width {
		return all, false
	}
	for ; all > width; all-- {
		widest := 0
		for i, n := range sizes {
			if n > sizes[widest] {
				widest = i
			}
		}
		sizes[widest]--
	}
	return all, true
}
