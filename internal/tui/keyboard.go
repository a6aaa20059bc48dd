package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/keys"
)

const (
	twice    = 600 * time.Millisecond // between two presses of esc that open the rewind
	thrice   = 500 * time.Millisecond // in which three interrupts force the exit
	leaving  = 2 * time.Second        // between two interrupts that leave
	notified = 5 * time.Second        // that a remark stays
)

// presses are the last interrupts and escapes.
type presses struct {
	interrupts []time.Time
	escape     time.Time
}

// interrupt notes an interrupt. It reports whether it is the third within half a second.
func (p *presses) interrupt(now time.Time) (forced bool) {
	p.interrupts = append(p.interrupts, now)
	n := len(p.interrupts)
	if n < 3 {
		return false
	}
	p.interrupts = p.interrupts[n-3:]
	return now.Sub(p.interrupts[0]) < thrice
}

// key handles a key: first what is open, then what holds everywhere, then the transcript or the prompt.
func (a *app) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case a.keys.Is(keys.Interrupt, name):
		return a.interrupt()
	case a.keys.Is(keys.Suspend, name) && a.o.Config.NoSuspend:
		a.say("cannot suspend: no shell could continue Tenon")
		return nil
	case a.keys.Is(keys.Suspend, name):
		return tea.Suspend
	case len(a.early) > 0 || a.top() != nil && dialog.Ended(a.top()):
		a.early = append(a.early, k)
		return nil
	case a.top() != nil && dialog.Leaves(a.top(), k):
		return tea.Batch(a.top().Update(k), below(a, k))
	case a.top() != nil:
		return a.top().Update(k)
	}
	return below(a, k)
}

// below handles a key as if no dialog were open.
func below(a *app, k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case a.search != nil && a.search.focused:
		return a.search.key(a, k)
	case postponed(a) && a.editor.Empty() && a.keys.Is(keys.Complete, name):
		a.asked = "" // the question opens again
		return nil
	case !a.browsing && a.editor.Wants(k):
		return a.editor.Update(k)
	}
	if cmd, ok := global(a, name); ok {
		return cmd
	}
	if a.browsing {
		return browse(a, k)
	}
	if a.keys.Is(keys.Quit, name) && a.editor.Empty() {
		return a.leave()
	}
	if name == "?" && a.editor.Empty() {
		return command(a, "help", "")
	}
	if a.keys.Is(keys.Submit, name) && a.editor.Empty() {
		if goesOn(a) {
			return goOn(a)
		}
		return steer(a)
	}
	return a.editor.Update(k)
}

// postponed reports whether a question waits whose dialog the person closed.
func postponed(a *app) bool {
	_, asking := a.pane.asking()
	return asking && a.top() == nil
}

// interrupt acts on ctrl+c: it closes what is open, cancels the run, clears the prompt, or leaves.
func (a *app) interrupt() tea.Cmd {
	now := a.now()
	switch {
	case a.pressed.interrupt(now):
		a.forced = true
		return tea.Quit
	case a.pane.busy():
		return a.abort()
	case a.top() != nil && a.top() == shownQuestion(a): // of a command of the person, or of a process that ended
		return tea.Batch(a.close(a.top()), a.abort())
	case a.top() != nil:
		return a.close(a.top())
	case !a.editor.Empty() || a.editor.Popup() != nil:
		a.editing = ""
		a.editor.Clear()
		return nil
	case a.home != nil:
		return back(a)
	case now.Sub(a.hinted) < leaving:
		return a.leave()
	}
	a.hinted = now
	a.say("press " + a.keys.Key(keys.Interrupt) + " again to leave")
	return nil
}

// global handles the keys that hold in the prompt and in the transcript.
func global(a *app, name string) (tea.Cmd, bool) {
	is := func(action keys.Action) bool { return a.keys.Is(action, name) }
	switch {
	case is(keys.Cancel):
		return escape(a)
	case is(keys.ScrollUp):
		a.pane.scrolled(a.list.Page(-1))
	case is(keys.ScrollDown):
		a.pane.scrolled(a.list.Page(1))
	case is(keys.Redraw):
		return tea.ClearScreen, true
	case is(keys.Panel):
		a.panel = !a.panel
		a.layout()
	case is(keys.ToggleMouse):
		a.o.Config.Mouse = !a.o.Config.Mouse
		a.say(onOff("mouse", a.o.Config.Mouse))
	case is(keys.FoldAll):
		a.foldAll()
	case is(keys.Timestamps):
		a.cards.Times = !a.cards.Times
		a.redraw()
	case is(keys.Search):
		a.search = newSearch()
	case is(keys.FocusNext):
		a.browse(!a.browsing)
	case is(keys.AgentNext):
		return neighbor(a, 1), true
	case is(keys.AgentPrev):
		return neighbor(a, -1), true
	case is(keys.Background):
		return steer(a), true
	case is(keys.Mode):
		return nextMode(a), true
	case is(keys.Thinking):
		return nextThinking(a), true
	default:
		for _, c := range commands() {
			if c.key != "" && is(c.key) {
				return c.do(a, ""), true
			}
		}
		return nil, false
	}
	return nil, true
}

// escape closes the search, cancels the run, or opens the rewind when pressed twice.
func escape(a *app) (tea.Cmd, bool) {
	now, last := a.now(), a.pressed.escape
	a.pressed.escape = time.Time{}
	switch {
	case a.search != nil:
		a.search = nil
		a.list.ClearSearch()
	case a.browsing:
		a.browse(false)
	case a.editing != "":
		a.editing = ""
		a.editor.Clear()
	case a.home != nil:
		return back(a), true
	case a.pane.busy():
		return a.abort(), true
	case now.Sub(last) < twice:
		return command(a, "rewind", ""), true
	default:
		a.pressed.escape = now
	}
	return nil, true
}

// browse handles keys while the transcript has the focus.
func browse(a *app, k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	is := func(action keys.Action) bool { return a.keys.Is(action, name) }
	switch {
	case is(keys.ItemPrev):
		a.list.SelectPrev()
	case is(keys.ItemNext):
		a.list.SelectNext()
	case is(keys.PromptPrev):
		a.list.PrevStop()
	case is(keys.PromptNext):
		a.list.NextStop()
	case is(keys.Top):
		a.list.Top()
		a.pane.upward = partial(a.pane)
	case is(keys.Bottom):
		a.list.Bottom()
	case is(keys.MatchNext):
		a.list.NextMatch()
	case is(keys.MatchPrev):
		a.list.PrevMatch()
	case is(keys.Toggle):
		if c := a.selected(); c != nil {
			c.Toggle()
		}
	case is(keys.Copy):
		return copyCard(a, false)
	case is(keys.CopyBlock):
		return copyCard(a, true)
	case is(keys.Pin):
		return command(a, "pin", "")
	case is(keys.Fork):
		return command(a, "fork", "")
	case k.Text != "" && !is(keys.Toggle): // a person who types means the prompt
		a.browse(false)
		return a.editor.Update(k)
	}
	return nil
}

func onOff(what string, on bool) string {
	if on {
		return what + " on"
	}
	return what + " off"
}
