package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// quiet is how long no key must come before a dialog takes keys: longer than the pause between two typed letters, and than the time in
// which a person sees that something opened.
const quiet = 500 * time.Millisecond

// guard keeps keys that a person typed for the prompt from answering a dialog that opened in that moment. Until no key came for the time
// quiet, the dialog [Leaves] all keys to the prompt, so that no text is lost. Each key starts that time again. If the prompt has text, a pause
// is no sign that the person saw the dialog: then the dialog also waits for a key that no text contains ([keys.Details], tab), and after that
// key for another pause. A timer's message ends the pause, so that the order of messages decides, not a clock: a key that came before the
// timer was never meant for the dialog.
type guard struct {
	typing bool // the prompt has text
	ready  bool
	turn   int // of the newest timer
}

type quietEnded int

// Leaves reports whether a message is not for the dialog: the person did not know of the dialog when they typed, or wants to scroll the
// transcript. The shell handles such a message as if no dialog were open, and gives it to the dialog, too.
func Leaves(d Dialog, msg tea.Msg) bool {
	g, ok := d.(interface{ leaves(msg tea.Msg) bool })
	return ok && g.leaves(msg)
}

// leavesKey is leaves for a dialog with options.
func (g *guard) leavesKey(o *Options, msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg:
		return !g.open() && !(g.ready && o.is(msg, keys.Details))
	case tea.PasteMsg:
		return !g.open()
	}
	return false
}

// start begins a pause.
func (g *guard) start(d Dialog) tea.Cmd {
	g.ready = false
	g.turn++
	return after(d, quiet, quietEnded(g.turn))
}

// held handles messages while the dialog takes no keys. It reports false if the dialog should handle the message.
func (g *guard) held(d Dialog, o *Options, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case Opened:
		return g.start(d), true
	case Message:
		turn, ok := msg.body.(quietEnded)
		if ok && int(turn) == g.turn {
			g.ready = true
		}
		return nil, ok
	case tea.KeyPressMsg:
		switch {
		case g.ready && !g.typing:
			return nil, false
		case g.ready && o.is(msg, keys.Details):
			g.typing = false
			return g.start(d), true
		case g.ready:
			return nil, true
		}
		return g.start(d), true
	case tea.PasteMsg:
		return nil, !g.open()
	}
	return nil, false
}

// open reports whether the dialog takes keys.
func (g *guard) open() bool { return g.ready && !g.typing }

// words say why the dialog takes no keys.
func (g *guard) words(o *Options) string {
	switch {
	case g.typing && g.ready:
		return "keys go to your prompt; " + o.Keys.Key(keys.Details) + " answers here"
	case g.typing:
		return "keys go to your prompt"
	}
	return "opening"
}
