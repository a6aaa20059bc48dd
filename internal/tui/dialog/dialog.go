// Package dialog has everything that opens above the transcript: permission, questions, pickers, the palette, help, text input.
//
// A dialog shows data that its owner gave it, and reports outcomes as messages. It changes nothing and reads nothing from disk. Dialogs
// belong to the goroutine of the user interface.
package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// Dialog is something open above the transcript. The shell passes messages to the top one, and closes it when it emits [Closed].
type Dialog interface {
	Update(msg tea.Msg) tea.Cmd
	// Lines returns at most height styled lines of at most width cells, without the box.
	Lines(width, height int) []string
	// Cursor returns the place of the text cursor in the newest Lines.
	Cursor() (x, y int, ok bool)
	Title() string
	Hints() []Hint
	// Bottom reports whether the dialog takes the full width at the bottom, so that the transcript stays readable.
	Bottom() bool
	common() *base
}

// Hint is a key and its purpose, for the footer.
type Hint struct{ Key, Words string }

// Opened says that a dialog is on top now. The shell sends it when it opens a dialog, and when it closes the one above it.
type Opened struct{}

// Closed says that a dialog is done. Its outcome, if there is one, is the message before.
type Closed struct{ Dialog Dialog }

// Message is from a dialog to itself, such as that of a timer. The shell passes it to Dialog, wherever that is in the stack.
type Message struct {
	Dialog Dialog
	body   any
}

// Options are the surroundings of all dialogs. The shell owns them, and may change the theme while dialogs are open.
type Options struct {
	Theme  *theme.Theme
	Keys   *keys.Map
	Dir    string           // of the session
	Reader bool             // plain, linear text for screen readers
	Now    func() time.Time // default: time.Now
}

func (o *Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// is reports whether a message is a key of an action.
func (o *Options) is(msg tea.Msg, actions ...keys.Action) bool {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return false
	}
	for _, a := range actions {
		if o.Keys.Is(a, key.String()) {
			return true
		}
	}
	return false
}

// hint is the first key of an action with its purpose.
func (o *Options) hint(a keys.Action, words string) Hint { return Hint{o.Keys.Key(a), words} }

// base is the common part of all dialogs.
type base struct {
	o      *Options
	title  string
	widest int  // of the largest box; 0: usual
	ended  bool // it reported its end
}

// Ended reports whether a dialog reported its end. Keys that arrive before [Closed] are not for it.
func Ended(d Dialog) bool { return d.common().ended }

func (b *base) common() *base            { return b }
func (b *base) Title() string            { return b.title }
func (b *base) Bottom() bool             { return false }
func (b *base) Cursor() (int, int, bool) { return 0, 0, false }

func emit(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// closing reports an outcome, and then the end of the dialog. It does so once.
func closing(d Dialog, outcome tea.Msg) tea.Cmd {
	b := d.common()
	if b.ended { // a key came before the shell closed it
		return nil
	}
	b.ended = true
	if outcome == nil {
		return emit(Closed{d})
	}
	return tea.Sequence(emit(outcome), emit(Closed{d}))
}

// after sends a body to a dialog after some time.
func after(d Dialog, wait time.Duration, body any) tea.Cmd {
	return tea.Tick(wait, func(time.Time) tea.Msg { return Message{d, body} })
}
