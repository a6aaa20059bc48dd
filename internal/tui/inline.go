package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// scrollback writes the finished items to the scrollback of the terminal, once and in their order. The live part stays on the screen. The next
// items wait until these are written, because Bubble Tea keeps no order among commands.
func scrollback(a *app) tea.Cmd {
	if !a.pane.inline || a.printing || a.width == 0 {
		return nil
	}
	var lines []string
	for a.list.Len() > 0 {
		c := a.card(0)
		if c == nil || c.Item().Open {
			break
		}
		lines = append(lines, c.Lines(a.width)...)
		a.list.Remove(0)
	}
	if len(lines) == 0 {
		return nil
	}
	a.printing = true
	return tea.Sequence(tea.Println(strings.Join(lines, "\n")), func() tea.Msg {
		return then(func(*app) tea.Cmd { // the scrollback has them
			a.printing = false
			return nil
		})
	})
}
