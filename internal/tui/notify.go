package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
)

// notify shows through the terminal that Tenon waits for the person, if they are elsewhere.
func notify(a *app, all []session.Event) tea.Cmd {
	if a.o.Config.Quiet || !a.blurred {
		return nil
	}
	for _, e := range all {
		switch b := e.Body.(type) {
		case session.Asking:
			return tea.Raw(notification("Tenon has a question for you"))
		case session.RunEnded:
			return tea.Raw(notification("Tenon: the run ended (" + strings.ReplaceAll(string(b.Reason), "_", " ") + ")"))
		}
	}
	return nil
}

// notification is the sequence of a notification: OSC 9 of iTerm2, ConEmu and others, OSC 777 of urxvt, and the bell for the rest.
func notification(text string) string {
	text = strings.ReplaceAll(term.OneLine(text), ";", ",")
	return fmt.Sprintf("\x1b]9;%s\x07\x1b]777;notify;Tenon;%s\x07\x07", text, text)
}
