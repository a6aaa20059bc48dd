package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// Entered is the outcome of a [Prompt].
type Entered struct {
	Dialog Dialog
	Text   string
}

// Prompt asks for one line of text.
type Prompt struct {
	base
	about string
	field field
	wrong string
	y     int

	accept func(text string) tea.Cmd // instead of the outcome, for dialogs that contain a prompt
}

// NewPrompt returns a prompt with an explanation and a text to change. If it is masked, such as for a key, Lines never has the text.
func NewPrompt(title, about, text string, masked bool, o *Options) *Prompt {
	p := &Prompt{base: base{o: o, title: title}, about: about, field: newField(o, false, masked)}
	p.field.Set(text)
	return p
}

func (p *Prompt) Update(msg tea.Msg) tea.Cmd {
	switch {
	case p.o.is(msg, keys.Cancel):
		return closing(p, nil)
	case p.o.is(msg, keys.Accept):
		text := strings.TrimSpace(p.field.Text())
		switch {
		case text == "":
			p.wrong = "enter a text, or leave with " + p.o.Keys.Key(keys.Cancel)
			return nil
		case p.accept != nil:
			return p.accept(text)
		}
		return closing(p, Entered{p, text})
	case p.field.Update(msg):
		p.wrong = ""
	}
	return nil
}

func (p *Prompt) Hints() []Hint {
	return []Hint{p.o.hint(keys.Accept, "accept"), p.o.hint(keys.Cancel, "cancel")}
}

func (p *Prompt) Cursor() (x, y int, ok bool) {
	x, y, _ = p.field.Cursor()
	return x, y + p.y, true
}

func (p *Prompt) Lines(width, height int) []string {
	t := p.o.Theme
	var lines []string
	if p.about != "" {
		lines = painted(t.Text, wrap(p.about, width))
	}
	if p.wrong != "" {
		lines = append(lines, painted(t.Bad, wrap(p.wrong, width))...)
	}
	lines = lines[:min(len(lines), max(height-1, 0))]
	p.y = len(lines)
	lines = append(lines, p.field.draw(width, min(height-p.y, 3), t.Glyph("› ", "> "), "")...)
	return clip(lines, width, height)
}
