// Package list shows a long list of items on a part of the terminal. It lays out only items that are visible, so the cost of a frame
// depends on the height of the list and not on the number of items.
package list

import (
	"slices"

	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// Item is one thing in a [List]. Items are pointers: the list compares them.
type Item interface {
	// Version differs whenever Lines would.
	Version() uint64
	// Lines returns styled, harmless lines of at most width cells; nil hides the item. The list does not change them.
	Lines(width int) []string
	// Text returns the plain text, for search and copy.
	Text() string
	// Stop reports whether the jump between prompts stops at the item.
	Stop() bool
}

// Joiner is an Item that may follow another without an empty line.
type Joiner interface {
	// Joins reports whether the list omits an empty first line of the item after the item before it.
	Joins(before Item) bool
}

// Revealer is an Item that can show a text that it hides now.
type Revealer interface {
	// Reveal shows the whole text of the item. The list calls it for a match that no line shows.
	Reveal()
}

// Marked is an Item whose Text has marks that its lines do not show, such as those of Markdown.
type Marked interface {
	// Unmarked returns the text without the marks. The search looks at it if Text does not match.
	Unmarked() string
}

// Point is a cell of a list: a line of an item, and a column.
type Point struct{ Item, Line, Column int }

// List is a list of items, one of which may be selected. It follows its end until a person scrolls up. It is not safe for concurrent use.
type List struct {
	screen
	search
	rows     []Point // the first cell of every visible line
	selected int
	from, to Point // the selected text; equal: none
}

// New returns an empty list.
func New(t *theme.Theme) *List {
	l := &List{screen: newScreen(t), selected: -1}
	l.list = l
	return l
}

// Append adds items at the end.
func (l *List) Append(items ...Item) {
	l.items = append(l.items, items...)
	l.search.next = len(l.items)
}

// Prepend adds items at the beginning. The visible items stay where they are.
func (l *List) Prepend(items ...Item) {
	l.items = slices.Insert(l.items, 0, items...)
	l.search.next = len(l.items)
	l.shift(0, len(items))
}

// Remove removes an item.
func (l *List) Remove(i int) {
	delete(l.cache, l.items[i])
	l.search.mark(l.items[i], unknown)
	l.items = slices.Delete(l.items, i, i+1)
	l.search.next = len(l.items)
	if i == l.selected {
		l.selected = -1
	}
	if i == l.top {
		l.line = 0
	}
	l.from, l.to = Point{}, Point{}
	l.shift(i+1, -1)
}

// shift adds n to the indices from first on that the list remembers.
func (l *List) shift(first, n int) {
	for _, i := range []*int{&l.top, &l.selected, &l.from.Item, &l.to.Item, &l.current.Item} {
		if *i >= first {
			*i += n
		}
	}
	for i := range l.rows {
		if l.rows[i].Item >= first {
			l.rows[i].Item += n
		}
	}
}

// Clear removes all items.
func (l *List) Clear() {
	screen := newScreen(l.theme)
	screen.width, screen.height = l.width, l.height
	*l = List{screen: screen, search: newSearch(l, l.query), selected: -1}
}

// Lines returns the visible lines, at most as many as the height.
func (l *List) Lines() []string {
	l.tick++
	l.rows = l.rows[:0]
	if len(l.items) == 0 || l.height <= 0 || l.width <= 0 {
		return nil
	}
	out := make([]string, 0, l.height)
	mark := l.theme.Focus.Paint(l.theme.Glyph("▌", "|"))
	item, line := l.start()
	for ; item < len(l.items) && len(out) < l.height; item, line = item+1, 0 {
		lines := l.linesOf(item)
		for ; line < len(lines) && len(out) < l.height; line++ {
			text := l.painted(item, line, lines[line])
			switch {
			case l.margin() == 0:
			case item == l.selected:
				text = mark + text
			case text != "":
				text = " " + text
			}
			out = append(out, text)
			l.rows = append(l.rows, Point{Item: item, Line: line})
		}
	}
	if len(l.cache) > 2*l.height+64 {
		for it, c := range l.cache {
			if c.used != l.tick {
				delete(l.cache, it)
			}
		}
	}
	return out
}

// Below returns the number of items with lines below the visible ones.
func (l *List) Below() int {
	if l.follow || len(l.rows) == 0 {
		return 0
	}
	last := l.rows[len(l.rows)-1]
	n := len(l.items) - 1 - last.Item
	if last.Line < len(l.linesOf(last.Item))-1 {
		n++
	}
	return n
}

// At returns the item and its line at a row of the last [List.Lines]; −1 if there is none.
func (l *List) At(y int) (item, line int) {
	if y < 0 || y >= len(l.rows) {
		return -1, -1
	}
	return l.rows[y].Item, l.rows[y].Line
}

// PointAt returns the cell at a position of the last [List.Lines]. A position outside of the lines is the nearest cell.
func (l *List) PointAt(x, y int) (Point, bool) {
	if len(l.rows) == 0 {
		return Point{}, false
	}
	p := l.rows[max(min(y, len(l.rows)-1), 0)]
	p.Column = max(x-l.margin(), 0)
	return p, true
}
