package tui

import (
	"fmt"

	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/transcript"
)

// paint changes the colors of everything.
func (a *app) paint(name string, dark bool) {
	t := theme.New(name, dark)
	t.ASCII = a.o.Config.ASCII
	a.theme, a.cards.Theme = t, t
	if a.settings != nil {
		a.settings.Theme = t
	}
	a.list.SetTheme(t)
	a.editor.SetTheme(t)
	a.redraw()
}

// redraw lays out all cards again.
func (a *app) redraw() {
	for _, c := range a.pane.cards {
		c.Changed()
	}
}

// browse moves the focus to the transcript, or back to the prompt.
func (a *app) browse(on bool) {
	a.browsing = on && a.list.Len() > 0
	a.editor.Focus(!a.browsing)
	switch {
	case !a.browsing:
		a.list.Select(-1)
	case a.list.Selected() < 0:
		a.list.Select(a.list.Len() - 1)
	}
}

// selected returns the chosen card, or nil.
func (a *app) selected() *card.Card {
	return a.card(a.list.Selected())
}

// card returns the card at an index of the list, or nil.
func (a *app) card(i int) *card.Card {
	if i < 0 || i >= a.list.Len() {
		return nil
	}
	c, _ := a.list.Item(i).(*card.Card)
	return c
}

// foldAll folds all calls and all thinking, or unfolds them.
func (a *app) foldAll() {
	a.cards.Folded = !a.cards.Folded
	for _, c := range a.pane.cards {
		c.SetFolded(a.cards.Folded)
	}
	if a.list.AtBottom() {
		a.list.Bottom()
	}
}

// welcome shows facts about a session that was opened.
func welcome(a *app, o *Opened) {
	for _, w := range o.Warnings {
		a.pane.note(transcript.Note{Kind: transcript.NoteWarning, Title: w.Text}, a.now())
	}
	if o.Owner != "" {
		a.pane.note(transcript.Note{Kind: transcript.NoteInfo, Title: "attached: " + o.Owner + " has the session open"}, a.now())
	}
	if o.Resumed {
		return
	}
	text := fmt.Sprintf("Answers come from %s: %s\n%s or ? shows keys and commands; %s changes the mode.",
		a.pane.state.Model.Ref(), o.Why, a.keys.Key(keys.Help), a.keys.Key(keys.Mode))
	a.pane.note(transcript.Note{Kind: transcript.NoteText, Title: "Tenon " + a.o.Version, Plain: text}, a.now())
}

var _ list.Item = (*card.Card)(nil)
