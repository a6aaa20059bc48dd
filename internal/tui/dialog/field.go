package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/editor"
)

// field is a text that a person writes in a dialog. It draws nothing but harmless text, in which nothing is invisible.
type field struct {
	*editor.Field
	o *Options
}

func newField(o *Options, lines, masked bool) field {
	show := plainly
	if masked {
		show = func(string) string { return o.Theme.Glyph("•", "*") }
	}
	return field{editor.NewField(o.Keys, lines, show), o}
}

// draw returns the lines around the cursor after a mark, or the words of an empty field.
func (f field) draw(width, height int, mark, empty string) []string {
	f.Look(f.o.Theme, mark, empty)
	return f.Lines(max(width, 1), max(height, 1))
}

// typing reports whether a message is a key with a text.
func typing(msg tea.Msg) bool {
	key, ok := msg.(tea.KeyPressMsg)
	return ok && editor.Typed(key) != ""
}
