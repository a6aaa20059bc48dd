package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// rulesAt is the column of the second part of a choice.
const rulesAt = 23

// choiceLine draws a choice with a second part, such as rules.
func choiceLine(o *Options, focused bool, words, more string, width int, danger bool) string {
	t := o.Theme
	mark, style := "  ", t.Text
	if danger {
		style = t.Bad
	}
	if focused {
		mark, style = t.Glyph("› ", "> "), t.Bold
	}
	if o.Reader && !focused {
		mark = ""
	}
	line := style.Paint(words)
	if more != "" {
		line = style.Paint(pad(words, rulesAt)) + t.Code.Paint(more)
	}
	line = fit(t.Accent.Paint(mark)+line, width)
	if focused && !o.Reader {
		return t.Selected.Bar(line, width)
	}
	return line
}

// Confirmed is the outcome of a [Confirm].
type Confirmed struct {
	Dialog Dialog
	Yes    bool
}

// Confirm asks a question that a person answers with yes or no. It answers no if the person leaves it.
type Confirm struct {
	base
	guard    *guard // of a dialog that opens by itself
	text     *pager
	yes, no  string
	positive bool // yes is in focus
}

// NewConfirm returns a dialog with a text and the words of the answers. No is in focus at first.
func NewConfirm(title, text, yes, no string, o *Options) *Confirm {
	c := &Confirm{base: base{o: o, title: title}, yes: yes, no: no}
	c.text = newPager(o, func(width int) []string { return painted(o.Theme.Text, wrap(plainly(text), width)) })
	return c
}

// NewTrust asks whether the configuration of a directory takes effect. Wants are its settings, in words.
func NewTrust(dir string, wants []string, o *Options) *Confirm {
	var b strings.Builder
	b.WriteString("The directory " + flat(dir) + " has a configuration that would take effect:\n\n")
	for _, w := range wants {
		b.WriteString("  - " + flat(w) + "\n")
	}
	b.WriteString("\nTrust it only if you trust its authors. Without trust, Tenon works here and ignores these settings.")
	c := NewConfirm("Trust this directory?", b.String(), "Yes, trust it", "No, ignore its settings", o)
	c.guard = &guard{}
	return c
}

func (c *Confirm) leaves(msg tea.Msg) bool { return c.guard != nil && c.guard.leavesKey(c.o, msg) }

func (c *Confirm) Update(msg tea.Msg) tea.Cmd {
	if c.guard != nil {
		if cmd, held := c.guard.held(c, c.o, msg); held {
			return cmd
		}
	}
	o := c.o
	switch {
	case o.is(msg, keys.Up):
		c.positive = true
	case o.is(msg, keys.Down):
		c.positive = false
	case o.is(msg, keys.Accept):
		return closing(c, Confirmed{c, c.positive})
	case o.is(msg, keys.AllowKey):
		return closing(c, Confirmed{c, true})
	case o.is(msg, keys.DenyKey), o.is(msg, keys.Cancel):
		return closing(c, Confirmed{c, false})
	default:
		c.text.update(msg)
	}
	return nil
}

func (c *Confirm) Hints() []Hint {
	o := c.o
	if c.guard != nil && !c.guard.open() {
		return nil
	}
	return []Hint{o.hint(keys.Accept, "choose"), o.hint(keys.AllowKey, "yes"), o.hint(keys.DenyKey, "no"), o.hint(keys.Cancel, "no")}
}

func (c *Confirm) Lines(width, height int) []string {
	lines := c.text.draw(width, max(height-3, min(height, 1)))
	if height > 4 {
		lines = append(lines[:len(lines):len(lines)], "")
	}
	lines = append(lines[:len(lines):len(lines)], choiceLine(c.o, c.positive, c.yes, "", width, false), choiceLine(c.o, !c.positive, c.no, "", width, false))
	return clip(lines, width, height)
}
