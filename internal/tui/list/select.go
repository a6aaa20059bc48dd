package list

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Selected returns the index of the selected item; −1 if none is.
func (l *List) Selected() int { return l.selected }

// Select selects an item and makes it visible; −1 selects none.
func (l *List) Select(i int) {
	if i < 0 || i >= len(l.items) {
		l.selected = -1
		return
	}
	l.selected = i
	l.reveal(i, 0, len(l.linesOf(i)))
}

// SelectNext selects the next item that has lines, or the last visible one if none is selected.
func (l *List) SelectNext() { l.step(1, func(i int) bool { return len(l.linesOf(i)) > 0 }) }

// SelectPrev selects the previous item that has lines, or the last visible one if none is selected.
func (l *List) SelectPrev() { l.step(-1, func(i int) bool { return len(l.linesOf(i)) > 0 }) }

// NextStop selects the next item at which the jump between prompts stops, and shows it at the top.
func (l *List) NextStop() { l.jump(1) }

// PrevStop selects the previous item at which the jump between prompts stops, and shows it at the top.
func (l *List) PrevStop() { l.jump(-1) }

func (l *List) jump(by int) {
	if l.step(by, func(i int) bool { return l.items[i].Stop() }) && l.height > 0 {
		l.show(l.selected, 0)
	}
}

// step selects the nearest item in a direction that fits.
func (l *List) step(by int, fits func(int) bool) bool {
	i := l.selected + by
	if l.selected < 0 {
		if i = len(l.items) - 1; len(l.rows) > 0 {
			i = l.rows[len(l.rows)-1].Item
		}
		by = -1
	}
	for ; i >= 0 && i < len(l.items); i += by {
		if fits(i) {
			l.Select(i)
			return true
		}
	}
	return false
}

// SelectText selects the text between two cells, both included, in either order. Equal points select nothing.
func (l *List) SelectText(from, to Point) {
	if to.before(from) {
		from, to = to, from
	}
	l.from, l.to = from, to
}

func (p Point) before(q Point) bool {
	if p.Item != q.Item {
		return p.Item < q.Item
	}
	if p.Line != q.Line {
		return p.Line < q.Line
	}
	return p.Column < q.Column
}

// columns returns the selected columns of a line: from the first up to the second.
func (l *List) columns(item, line int) (from, to int) {
	at := Point{Item: item, Line: line}
	if l.from == l.to || at.before(Point{Item: l.from.Item, Line: l.from.Line}) || (Point{Item: l.to.Item, Line: l.to.Line}).before(at) {
		return 0, 0
	}
	to = 1 << 20
	if item == l.from.Item && line == l.from.Line {
		from = l.from.Column
	}
	if item == l.to.Item && line == l.to.Line {
		to = l.to.Column + 1
	}
	return from, to
}

// maxSelected limits the lines of a selected text.
const maxSelected = 50_000

// SelectedText returns the selected text.
func (l *List) SelectedText() string {
	if l.from == l.to {
		return ""
	}
	var b strings.Builder
	n := 0
	for i := l.from.Item; i <= l.to.Item && i < len(l.items) && n < maxSelected; i++ {
		for j, line := range l.linesOf(i) {
			if from, to := l.columns(i, j); to > from {
				b.WriteString(strings.TrimRight(ansi.Strip(ansi.Cut(line, from, to)), " "))
				b.WriteByte('\n')
				n++
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
