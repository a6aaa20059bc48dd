package complete

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// Item is a choice of a popup.
type Item struct {
	Text   string // the value; the popup shows it if Label is empty
	Label  string
	Detail string // further words, dimmed
	More   bool   // a command: it needs arguments

	positions []int // the matched bytes of the label
}

func (it Item) label() string {
	if it.Label != "" {
		return it.Label
	}
	return it.Text
}

// Filter returns the items whose label or text matches a pattern, the best first. rank is [Match] or [Shortest]. The empty pattern keeps their
// order.
func Filter(pattern string, items []Item, rank func(string, []string) []Ranked) []Item {
	if pattern == "" {
		rank = Match
	}
	labels := make([]string, len(items))
	for i, it := range items {
		labels[i] = it.label()
	}
	ranked := rank(pattern, labels)
	found := make([]Item, len(ranked))
	for i, r := range ranked {
		found[i] = items[r.Index]
		found[i].positions = r.Positions
	}
	return found
}

// Popup is a list of choices above the prompt. It belongs to one goroutine.
type Popup struct {
	Theme *theme.Theme
	Title string // the first row; empty: none
	Empty string // shown if there is no item
	Ends  bool   // cut long labels at the start, as paths need it

	items    []Item
	selected int
	top      int
}

// Set replaces the items and selects the first one.
func (p *Popup) Set(items []Item) { p.items, p.selected, p.top = items, 0, 0 }

// Narrow keeps the items that match a pattern.
func (p *Popup) Narrow(pattern string) { p.Set(Filter(pattern, p.items, Shortest)) }

// Up selects the item above, or the last one.
func (p *Popup) Up() { p.move(-1) }

// Down selects the item below, or the first one.
func (p *Popup) Down() { p.move(1) }

func (p *Popup) move(by int) {
	if n := len(p.items); n > 0 {
		p.selected = (p.selected + by + n) % n
	}
}

// Accept returns the selected item.
func (p *Popup) Accept() (Item, bool) {
	if len(p.items) == 0 {
		return Item{}, false
	}
	return p.items[p.selected], true
}

// Height returns how many rows the popup needs, at most limit.
func (p *Popup) Height(limit int) int {
	n := len(p.items)
	if n == 0 && p.Empty != "" {
		n = 1
	}
	if p.Title != "" {
		n++
	}
	return min(n, limit)
}

// Lines draws the title and the items around the selected one.
func (p *Popup) Lines(width, height int) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	var lines []string
	if p.Title != "" && height > 1 {
		lines = append(lines, p.Theme.Dim.Paint(ansi.Truncate(term.OneLine(p.Title), width, "…")))
		height--
	}
	if len(p.items) == 0 && p.Empty != "" {
		return append(lines, p.Theme.Faint.Paint(ansi.Truncate(p.Empty, width, "…")))
	}
	p.top = max(min(p.top, p.selected, len(p.items)-height), p.selected-height+1, 0)
	column := 0 // where the details start
	for _, it := range p.items {
		if it.Detail != "" {
			column = max(column, min(ansi.StringWidth(term.OneLine(it.label())), width/2))
		}
	}
	for i := p.top; i < len(p.items) && i < p.top+height; i++ {
		lines = append(lines, p.line(p.items[i], i == p.selected, width, column))
	}
	return lines
}

func (p *Popup) line(it Item, selected bool, width, column int) string {
	mark := "  "
	if selected {
		mark = p.Theme.Glyph("› ", "> ")
	}
	if width < 8 {
		mark = ""
	}
	room := width - ansi.StringWidth(mark)
	label := p.paint(it, room)
	used := ansi.StringWidth(label)
	line := p.Theme.Accent.Paint(mark) + label
	if rest := room - max(used, column) - 2; it.Detail != "" && rest > 4 {
		line += strings.Repeat(" ", max(column-used, 0)+2) + p.Theme.Dim.Paint(ansi.Truncate(term.OneLine(it.Detail), rest, "…"))
	}
	if selected {
		line = p.Theme.Selected.Over(line + strings.Repeat(" ", max(width-ansi.StringWidth(line), 0)))
	}
	return line
}

// paint draws a label with its matched letters, as one harmless line.
func (p *Popup) paint(it Item, room int) string {
	label, hits := it.label(), it.positions
	var line, run strings.Builder
	hit := false
	flush := func() {
		style := p.Theme.Text
		if hit {
			style = p.Theme.Accent.With(theme.Bold)
		}
		line.WriteString(style.Paint(run.String()))
		run.Reset()
	}
	for at := 0; at < len(label); {
		c, _ := ansi.FirstGraphemeCluster(label[at:], ansi.GraphemeWidth)
		at += len(c)
		is := len(hits) > 0 && hits[0] < at
		for len(hits) > 0 && hits[0] < at {
			hits = hits[1:]
		}
		if is != hit {
			flush()
			hit = is
		}
		switch shown := term.Harmless(c); {
		case strings.ContainsAny(c, "\n\t"):
			run.WriteByte(' ')
		case len(c) > 64 || ansi.StringWidth(shown) == 0:
			run.WriteRune('\ufffd')
		default:
			run.WriteString(shown)
		}
	}
	flush()
	if n := ansi.StringWidth(line.String()); n > room && p.Ends {
		return ansi.TruncateLeft(line.String(), n-room+1, p.Theme.Dim.Paint("…"))
	}
	return ansi.Truncate(line.String(), room, "…")
}
