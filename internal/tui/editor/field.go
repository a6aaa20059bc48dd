package editor

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// maxField is how many bytes a field takes.
const maxField = 1 << 20

// Field is a text in a dialog. It has the keys of the prompt, but no chips, and draws its graphemes by a function. It belongs to one goroutine.
type Field struct {
	screen
	keys  *keys.Map
	lines bool
}

// NewField returns an empty field, with one or several lines. show returns the harmless form of a grapheme.
func NewField(m *keys.Map, lines bool, show func(grapheme string) string) *Field {
	b := newBuffer()
	b.show = show
	return &Field{screen: screen{pen: &pen{buffer: b, column: -1}, focused: true}, keys: m, lines: lines}
}

// Look sets the colors, the mark before the text and the words of an empty field.
func (f *Field) Look(t *theme.Theme, mark, placeholder string) {
	f.theme, f.prompt, f.placeholder = t, mark, placeholder
}

// Text returns the text.
func (f *Field) Text() string { return string(f.pen.text) }

// Set replaces the text, and puts the cursor at its end. Undo does not bring the old text back: it may be of another question.
func (f *Field) Set(text string) {
	b := f.pen.buffer
	*b = buffer{width: b.width, show: b.show}
	f.insert(text)
	b.done = nil
}

func (f *Field) insert(text string) {
	if text = clean(text); !f.lines {
		text = strings.ReplaceAll(strings.Trim(text, "\n"), "\n", " ")
	}
	if len(f.pen.text)+len(text) <= maxField {
		f.pen.replace(f.pen.cursor, f.pen.cursor, text, other)
	}
}

// Update handles keys and pastes. It reports whether the message is for the field.
func (f *Field) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		f.insert(msg.Content)
	case tea.KeyPressMsg:
		return f.pen.edit(msg, func(a keys.Action) bool { return (f.lines || a != keys.Newline) && f.keys.Is(a, msg.String()) })
	default:
		return false
	}
	return true
}
