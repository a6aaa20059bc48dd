package dialog

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/transcript"
)

// pager shows a text that may be longer than its place. It shows the beginning and the end, or, once the person opened it, any part.
type pager struct {
	o     *Options
	lay   func(width int) (text, notes []string) // styled lines; both keep their beginning and end
	open  bool
	over  bool // the text did not fit in the newest draw
	top   int
	width int
	theme *theme.Theme
	lines []string // for the width and the theme
	notes int      // the number of notes at the end of lines
	page  int
}

func newPager(o *Options, lay func(width int) []string) *pager {
	return &pager{o: o, lay: func(width int) ([]string, []string) { return lay(width), nil }}
}

// update handles keys that scroll.
func (p *pager) update(msg tea.Msg) bool {
	switch {
	case !p.over:
		return false
	case p.o.is(msg, keys.Details):
		p.open = !p.open
	case p.o.is(msg, keys.PageDown):
		p.open, p.top = true, p.top+p.page
	case p.o.is(msg, keys.PageUp):
		p.open, p.top = true, p.top-p.page
	default:
		wheel, ok := msg.(tea.MouseWheelMsg)
		if !ok {
			return false
		}
		p.open = true
		if p.top += 3; wheel.Button == tea.MouseWheelUp {
			p.top -= 6
		}
	}
	p.top = max(p.top, 0)
	return true
}

func (p *pager) layout(width int) []string {
	if p.lines == nil || p.width != width || p.theme != p.o.Theme {
		text, notes := p.lay(width)
		p.width, p.theme, p.notes, p.lines = width, p.o.Theme, len(notes), append(text, notes...)
	}
	return p.lines
}

// draw returns at most height lines. It says how much of the text it does not show.
func (p *pager) draw(width, height int) []string {
	all := p.layout(width)
	p.over = len(all) > height || p.open && p.over
	if len(all) <= height || height <= 0 {
		p.top = 0
		return all[:min(len(all), max(height, 0))]
	}
	t := p.o.Theme
	p.page = max(height-1, 1)
	if p.open {
		p.top = max(min(p.top, len(all)-p.page), 0)
		end := min(p.top+p.page, len(all))
		state := fmt.Sprintf("lines %d-%d of %d", p.top+1, end, len(all))
		return append(all[p.top:end:end], t.Warn.Paint(state))
	}
	text := all[: len(all)-p.notes : len(all)-p.notes]
	notes := all[len(text):]
	below := min(len(notes), max(height/2, height-len(text)))
	return append(p.elide(text, height-below), p.elide(notes, below)...)
}

// elide returns the beginning and the end of lines, with a mark between them that counts the hidden characters.
func (p *pager) elide(all []string, height int) []string {
	if len(all) <= height || height <= 0 {
		return all[:min(len(all), max(height, 0))]
	}
	head := height / 2
	tail := height - 1 - head
	n := 0
	for _, line := range all[head : len(all)-tail] {
		n += ansi.StringWidth(line)
	}
	t := p.o.Theme
	mark := fmt.Sprintf("%s %s hidden; %s shows all", t.Glyph("…", "..."), transcript.Count(n, "character"), p.o.Keys.Key(keys.Details))
	return append(append(all[:head:head], t.Warn.Paint(mark)), all[len(all)-tail:]...)
}
