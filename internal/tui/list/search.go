package list

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// search is the state of a search. It looks at the newest items first.
type search struct {
	list  *List
	query []rune       // in lower case
	hits  map[Item]hit // by item; an item without one is unknown
	next  int          // the items from here on are not unknown, but for later ones
	found int

	current Point // the match; the item is −1 before the first
	hidden  bool  // no line shows it
}

// hit says whether an item contains the query.
type hit uint8

const (
	unknown hit = iota
	miss
	match
)

func newSearch(l *List, query []rune) search {
	return search{list: l, query: query, hits: make(map[Item]hit), next: len(l.items), current: Point{Item: -1}}
}

// mark notes whether an item contains the query.
func (s *search) mark(it Item, h hit) {
	if s.hits[it] == match {
		s.found--
	}
	switch h {
	case unknown:
		delete(s.hits, it)
		return
	case match:
		s.found++
	}
	s.hits[it] = h
}

// Search begins to look for a text in all items, without regard to case. Call [List.SearchStep] until it is done.
func (s *search) Search(query string) { *s = newSearch(s.list, []rune(strings.ToLower(query))) }

// SearchStep continues the search for about the given time. It returns the number of items that contain the text so far. done reports
// whether it has seen all items.
func (s *search) SearchStep(budget time.Duration) (matches int, done bool) {
	end := time.Now().Add(budget)
	for s.next > 0 && len(s.query) > 0 && !time.Now().After(end) {
		s.next--
		s.matches(s.list.items[s.next])
	}
	return s.found, s.next == 0 || len(s.query) == 0
}

// matches reports whether an item contains the query.
func (s *search) matches(it Item) bool {
	if s.hits[it] == unknown {
		s.mark(it, miss)
		m, marked := it.(Marked)
		if shows(it.Text(), s.query) || marked && shows(m.Unmarked(), s.query) {
			s.mark(it, match)
		}
	}
	return s.hits[it] == match
}

// ClearSearch ends the search.
func (s *search) ClearSearch() { s.Search("") }

// NextMatch shows the next line that contains the text and selects its item. After the last match it continues with the first.
func (s *search) NextMatch() { s.toMatch(1) }

// PrevMatch shows the previous line that contains the text and selects its item. Before the first match it continues with the last.
func (s *search) PrevMatch() { s.toMatch(-1) }

func (s *search) toMatch(by int) {
	if len(s.query) == 0 || len(s.list.items) == 0 {
		return
	}
	item, line := s.current.Item, s.current.Line
	if item < 0 || item >= len(s.list.items) {
		item, line = s.origin(by)
	}
	for range len(s.list.items) + 1 {
		if s.matches(s.list.items[item]) {
			if at, ok := s.lineWith(item, line, by); ok {
				s.current.Item, s.current.Line, s.hidden, s.list.selected = item, at, at < 0, item
				s.list.reveal(item, max(at, 0), max(at, 0)+1)
				return
			}
		}
		item = (item + by + len(s.list.items)) % len(s.list.items)
		if line = -1; by < 0 {
			line = 1 << 30
		}
	}
}

// lineWith returns the next line of an item that shows the query. If no line does, the item reveals its text; else the line is −1.
func (s *search) lineWith(item, line, by int) (int, bool) {
	for again := range 2 {
		lines := s.list.linesOf(item)
		at := line + by
		if by < 0 {
			at = min(at, len(lines)-1)
		}
		for ; at >= 0 && at < len(lines); at += by {
			if shows(ansi.Strip(lines[at]), s.query) {
				return at, true
			}
		}
		if slices.ContainsFunc(lines, func(line string) bool { return shows(ansi.Strip(line), s.query) }) {
			return 0, false
		}
		if r, ok := s.list.items[item].(Revealer); ok && again == 0 {
			r.Reveal()
		}
	}
	return -1, item != s.current.Item || !s.hidden
}

// origin returns the place before the first match: the selected item, or the edge of the screen.
func (s *search) origin(by int) (item, line int) {
	switch {
	case s.list.selected >= 0:
		item = s.list.selected
	case len(s.list.rows) == 0:
		item = len(s.list.items) - 1
	case by > 0:
		return s.list.rows[0].Item, s.list.rows[0].Line - 1
	default:
		last := s.list.rows[len(s.list.rows)-1]
		return last.Item, last.Line + 1
	}
	if by < 0 {
		return item, 1 << 30
	}
	return item, -1
}

// shows reports whether a text contains a query in lower case.
func shows(text string, query []rune) bool {
	from, _ := indexFold(text, query)
	return from >= 0
}

// indexFold returns the first place of a query in lower case; −1 if the text does not contain it.
func indexFold(text string, query []rune) (from, to int) {
	if len(query) == 0 {
		return -1, -1
	}
	first := query[0]
	other := unicode.ToUpper(first)
	for i := 0; i < len(text); {
		rest := text[i:]
		if first < utf8.RuneSelf && other < utf8.RuneSelf && first != 'k' && first != 's' { // the others have a capital beyond ASCII
			at := strings.IndexByte(rest, byte(first))
			if other != first {
				head := rest
				if at >= 0 {
					head = rest[:at]
				}
				if up := strings.IndexByte(head, byte(other)); up >= 0 {
					at = up
				}
			}
			if at < 0 {
				return -1, -1
			}
			i += at
			rest = text[i:]
		}
		if n := foldPrefix(rest, query); n >= 0 {
			return i, i + n
		}
		_, size := utf8.DecodeRuneInString(rest)
		i += size
	}
	return -1, -1
}

// foldPrefix returns the length of the query at the beginning of a text; −1 if it does not begin so.
func foldPrefix(text string, query []rune) int {
	n := 0
	for _, q := range query {
		r, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || r != q && unicode.ToLower(r) != q {
			return -1
		}
		n += size
	}
	return n
}

// painted returns a line with the selected text and the matches of the search.
func (l *List) painted(item, line int, text string) string {
	if from, to := l.columns(item, line); to > from {
		text = over(text, from, to, theme.Reverse)
	}
	if len(l.query) == 0 {
		return text
	}
	style := l.theme.Match
	if item == l.current.Item && line == l.current.Line {
		style = style.With(theme.Bold).With(theme.Underline)
	}
	plain := ansi.Strip(text)
	for at := 0; at < len(plain); {
		from, to := indexFold(plain[at:], l.query)
		if from < 0 {
			break
		}
		column := term.Cells(plain[:at+from])
		text = over(text, column, column+term.Cells(plain[at+from:at+to]), style)
		at += to
	}
	return text
}

// over paints columns of a styled line.
func over(line string, from, to int, style theme.Style) string {
	width := term.Cells(line)
	if to = min(to, width); from >= to {
		return line
	}
	return ansi.Cut(line, 0, from) + "\x1b[0m" + style.Paint(ansi.Strip(ansi.Cut(line, from, to))) + ansi.Cut(line, to, width)
}
