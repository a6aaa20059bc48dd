package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// Page is a text to read: a plan, a diff, the output of a command.
type Page struct {
	base
	pages   *pager
	find    field
	finding bool
	found   int // the line of the newest match; -1: none
}

// NewPage returns a page of plain text.
func NewPage(title, text string, o *Options) *Page {
	return NewDrawn(title, func(width int) []string { return painted(o.Theme.Text, wrap(text, width)) }, o)
}

// NewDrawn returns a page of styled lines, which draw returns for a width. It may be called in each Lines.
func NewDrawn(title string, draw func(width int) []string, o *Options) *Page {
	p := &Page{base: base{o: o, title: title, widest: widest}, pages: newPager(o, draw), find: newField(o, false, false), found: -1}
	p.pages.open = true
	return p
}

func (p *Page) Update(msg tea.Msg) tea.Cmd {
	o := p.o
	switch {
	case p.finding && o.is(msg, keys.Cancel):
		p.finding = false
	case p.finding && o.is(msg, keys.Accept):
		p.finding = false
		p.search(1)
	case p.finding:
		if p.find.Update(msg) {
			p.found = -1
			p.search(1)
		}
	case o.is(msg, keys.Cancel), o.is(msg, keys.Accept):
		return closing(p, nil)
	case o.is(msg, keys.Search):
		p.finding = true
	case o.is(msg, keys.MatchNext):
		p.search(1)
	case o.is(msg, keys.MatchPrev):
		p.search(-1)
	case o.is(msg, keys.Up):
		p.pages.top = max(p.pages.top-1, 0)
	case o.is(msg, keys.Down):
		p.pages.top++
	case o.is(msg, keys.Top):
		p.pages.top = 0
	case o.is(msg, keys.Bottom):
		p.pages.top = len(p.pages.lines)
	case !o.is(msg, keys.Details):
		p.pages.update(msg)
	}
	return nil
}

// search moves to the next line with the searched text.
func (p *Page) search(step int) {
	want := strings.ToLower(p.find.Text())
	n := len(p.pages.lines)
	if want == "" || n == 0 {
		return
	}
	from := p.found
	if from < 0 {
		from = p.pages.top - step
	}
	for i := 1; i <= n; i++ {
		at := ((from+i*step)%n + n) % n
		if strings.Contains(strings.ToLower(ansi.Strip(p.pages.lines[at])), want) {
			p.found = at
			p.pages.top = max(at-p.pages.page/2, 0)
			return
		}
	}
	p.found = -1
}

func (p *Page) Hints() []Hint {
	o := p.o
	if p.finding {
		return []Hint{o.hint(keys.Accept, "next match"), o.hint(keys.Cancel, "stop searching")}
	}
	return []Hint{o.hint(keys.PageDown, "next page"), o.hint(keys.Search, "search"), o.hint(keys.MatchNext, "next match"), o.hint(keys.Cancel, "close")}
}

func (p *Page) Cursor() (x, y int, ok bool) {
	x, _, _ = p.find.Cursor()
	return x, 0, p.finding
}

func (p *Page) Lines(width, height int) []string {
	t := p.o.Theme
	var lines []string
	if p.finding {
		line := p.find.draw(width, 1, "search: ", "")[0]
		if p.found < 0 && p.find.Text() != "" {
			line += t.Bad.Paint("  no match")
		}
		lines = append(lines, line)
		height--
	}
	shown := p.pages.draw(width, height)
	if i := p.found - p.pages.top; p.found >= 0 && i >= 0 && i < len(shown) && i < len(p.pages.lines)-p.pages.top {
		shown = append([]string(nil), shown...)
		shown[i] = t.Match.Over(shown[i])
	}
	return clip(append(lines, shown...), width, height+len(lines))
}
