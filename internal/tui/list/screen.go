package list

import (
	"slices"

	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// screen is the visible part of the items.
type screen struct {
	theme         *theme.Theme
	width, height int
	items         []Item
	cache         map[Item]*laid
	tick          uint64 // of the frame

	follow    bool // the end is visible
	top, line int  // the first visible line, unless the list follows its end
}

// laid is the lines of an item.
type laid struct {
	version, used uint64
	width         int
	lines         []string
}

func newScreen(t *theme.Theme) screen {
	return screen{theme: t, cache: map[Item]*laid{}, follow: true}
}

// SetTheme changes the theme and lays out all items again.
func (l *screen) SetTheme(t *theme.Theme) {
	l.theme = t
	clear(l.cache)
}

// SetSize sets the size in cells. The first visible item stays the first.
func (l *screen) SetSize(width, height int) {
	if width != l.width && !l.follow && l.top < len(l.items) && l.line > 0 {
		before := len(l.linesOf(l.top))
		l.width = width
		l.line = l.line * len(l.linesOf(l.top)) / max(before, 1)
	}
	l.width, l.height = width, height
}

// Len returns the number of items.
func (l *screen) Len() int { return len(l.items) }

// Item returns the item at an index.
func (l *screen) Item(i int) Item { return l.items[i] }

// Index returns the index of an item, or −1.
func (l *screen) Index(it Item) int { return slices.Index(l.items, it) }

// margin is the width of the column for the mark of the selected item.
func (l *screen) margin() int {
	if l.width < 8 {
		return 0
	}
	return 1
}

func (l *screen) linesOf(i int) []string {
	it := l.items[i]
	c, version, width := l.cache[it], it.Version(), l.width-l.margin()
	if c == nil {
		c = &laid{width: -1}
		l.cache[it] = c
	}
	if c.width != width || c.version != version {
		c.lines, c.width, c.version = it.Lines(width), width, version
	}
	c.used = l.tick
	if len(c.lines) > 0 && c.lines[0] == "" && i > 0 {
		if j, ok := it.(Joiner); ok && j.Joins(l.items[i-1]) {
			return c.lines[1:]
		}
	}
	return c.lines
}

// start returns the first visible line.
func (l *screen) start() (item, line int) {
	if !l.follow {
		l.top = min(l.top, len(l.items)-1)
		l.line = max(min(l.line, len(l.linesOf(l.top))-1), 0)
		if l.reaches(l.top, l.line) {
			return l.top, l.line
		}
		l.follow = true
	}
	return l.back(len(l.items), 0, l.height)
}

// reaches reports whether the lines from a place on fill the height.
func (l *screen) reaches(item, line int) bool {
	return l.between(item, line, len(l.items), l.height) >= l.height
}

// between returns the number of lines from a place up to an item. It stops to count after most.
func (l *screen) between(item, line, end, most int) int {
	n := -line
	for ; item < end && n < most; item++ {
		n += len(l.linesOf(item))
	}
	return n
}

// back returns the place n lines before another, or the first one.
func (l *screen) back(item, line, n int) (int, int) {
	for line < n && item > 0 {
		item--
		line += len(l.linesOf(item))
	}
	return item, max(line-n, 0)
}

// Scroll moves by lines, down if lines is positive. It returns how many lines before the first one it could not move.
func (l *screen) Scroll(lines int) (missed int) {
	if len(l.items) == 0 || l.height <= 0 {
		return max(-lines, 0)
	}
	item, line := l.start()
	if lines < 0 {
		from, at := item, line
		item, line = l.back(item, line, -lines)
		if item == 0 && line == 0 {
			missed = -lines - l.between(0, 0, from, -lines) - at
		}
		if l.follow && !l.longer() {
			return max(missed, 0)
		}
	} else {
		line += lines
		for item < len(l.items)-1 && line >= len(l.linesOf(item)) {
			line -= len(l.linesOf(item))
			item++
		}
	}
	l.show(item, line)
	return max(missed, 0)
}

// longer reports whether the items need more than the height.
func (l *screen) longer() bool {
	item, line := l.back(len(l.items), 0, l.height+1)
	return l.between(item, line, len(l.items), l.height+1) > l.height
}

// show makes a line the first visible one. At the end the list follows its end again.
func (l *screen) show(item, line int) {
	l.top, l.line = item, line
	l.follow = false
	item, line = l.start() // follows if the lines do not fill the height
	if !l.follow {
		end, at := l.back(len(l.items), 0, l.height)
		l.follow = item > end || item == end && line >= at
	}
}

// Page moves by screens, down if n is positive. One line stays visible. It returns what Scroll does.
func (l *screen) Page(n int) (missed int) { return l.Scroll(n * max(l.height-1, 1)) }

// Top moves to the beginning.
func (l *screen) Top() {
	if len(l.items) > 0 && l.longer() {
		l.show(0, 0)
	}
}

// Bottom moves to the end. The list follows its end from then on.
func (l *screen) Bottom() { l.follow = true }

// AtBottom reports whether the end is visible.
func (l *screen) AtBottom() bool { return l.follow }

// AtTop reports whether the beginning is visible.
func (l *screen) AtTop() bool {
	if len(l.items) == 0 {
		return true
	}
	item, line := l.start()
	first, _ := l.back(item, line, 1)
	return first == 0 && line == 0 && (item == 0 || len(l.linesOf(0)) == 0)
}

// reveal makes lines of an item visible, the first ones if not all fit.
func (l *screen) reveal(i, from, to int) {
	if l.height <= 0 {
		return
	}
	to = min(to, from+l.height)
	item, line := l.start()
	if i < item || i == item && from < line {
		l.show(i, from)
		return
	}
	if l.between(item, line, i, l.height+1)+to > l.height {
		l.show(l.back(i, to, l.height))
	}
}
