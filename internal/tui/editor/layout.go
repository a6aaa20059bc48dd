package editor

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
)

// The buffer breaks lines into rows of its width. The start of a row in the text stands for the row.

const tabWidth = 4

// cell is a grapheme on the screen.
type cell struct {
	n     int    // bytes in the text
	width int    // cells
	show  string // harmless
	chip  bool
}

// cell returns the grapheme at pos, drawn in a column.
func (b *buffer) cell(pos, column int) cell {
	text := string(b.text[pos:])
	c := cell{n: cluster(text)}
	i, chip := chipAt(text)
	switch first := text[0]; {
	case b.show != nil:
		c.show = b.show(text[:c.n])
	case first == '!' && pos == 0 && c.n == 1:
		return c // the mark of the prompt shows it
	case c.n == 1 && first > ' ' && first < 0x7f:
		c.show, c.width = text[:1], 1
		return c
	case chip:
		c.chip, c.show = true, "[?]"
		if i < len(b.parts) {
			c.show = b.parts[i].Label()
		}
		c.show = ansi.Truncate(c.show, b.width, "")
	case first == '\t':
		c.show = strings.Repeat(" ", min(tabWidth-column%tabWidth, b.width))
	default:
		if c.show = term.Harmless(text[:c.n]); c.n > 64 { // dozens of marks on one letter
			c.show = string([]rune(c.show)[:1])
		}
	}
	if c.width = ansi.StringWidth(c.show); c.width == 0 || c.width > b.width {
		c.show, c.width = "\ufffd", 1
	}
	return c
}

// longLine is the length at whose multiples a row of a long line begins in any case, so that a row is found without all rows before it.
const longLine = 2 << 10

// long reports whether a line is long enough that a row begins at the multiple k of longLine.
func (b *buffer) long(k int) bool {
	return k > 0 && strings.IndexByte(string(b.text[(k-1)*longLine:k*longLine]), '\n') < 0
}

// next returns the end of the row that starts at pos. wrapped says that the next row of the same line starts there. A row breaks after a blank
// if it has one, and one blank may hang over.
func (b *buffer) next(start int) (end int, wrapped bool) {
	column, blank, pos := 0, -1, start
	for pos < len(b.text) && b.text[pos] != '\n' {
		if k := pos / longLine; k > start/longLine && b.long(k) {
			return pos, true
		}
		c := b.cell(pos, column)
		if column+c.width > b.width {
			switch {
			case c.show == " " && column == b.width && b.width > 1:
				pos += c.n // the blank is in the column of the cursor
				return pos, pos < len(b.text) && b.text[pos] != '\n'
			case blank > start:
				return blank, true
			case pos > start:
				return pos, true
			}
		}
		column += c.width
		pos += c.n
		if last := b.text[pos-1]; last == ' ' || last == '\t' {
			blank = pos
		}
	}
	return pos, false
}

// row returns the start of the row of a position, and the column of the position.
func (b *buffer) row(pos int) (start, column int) {
	k := pos / longLine
	from := max(k-1, 0) * longLine
	if n := strings.LastIndexByte(string(b.text[from:pos]), '\n'); n >= 0 {
		start = from + n + 1
	} else if k > 0 {
		start = b.text.ceil(k * longLine)
	}
	for {
		end, wrapped := b.next(start)
		if !wrapped || end > pos {
			break
		}
		start = end
	}
	for at := start; at < pos; {
		c := b.cell(at, column)
		at, column = at+c.n, column+c.width
	}
	return start, column
}

// above returns the row before a row.
func (b *buffer) above(row int) (int, bool) {
	if row <= 0 {
		return 0, false
	}
	before, _ := b.row(b.text.prev(row))
	return before, true
}

// below returns the row after a row.
func (b *buffer) below(row int) (int, bool) {
	end, wrapped := b.next(row)
	switch {
	case wrapped:
		return end, true
	case end < len(b.text):
		return end + 1, true
	}
	return row, false
}

// at returns the position in a row that is nearest to a column from the left.
func (b *buffer) at(row, column int) int {
	end, wrapped := b.next(row)
	pos := row
	for x := 0; pos < end; {
		c := b.cell(pos, x)
		if x+c.width > column || wrapped && pos+c.n >= end {
			break
		}
		pos, x = pos+c.n, x+c.width
	}
	return pos
}

// count returns how many rows the text has, at most limit.
func (b *buffer) count(limit int) int {
	n, more := 1, true
	for row := 0; n < limit; n++ {
		if row, more = b.below(row); !more {
			break
		}
	}
	return min(n, limit)
}
