package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/transcript"
)

// search is the search in the transcript.
type search struct {
	query   []rune
	focused bool // keys go to the query
	matches int
	done    bool
}

func newSearch() *search { return &search{focused: true, done: true} }

// searchBudget is the time that a search takes of one frame.
const searchBudget = 5 * time.Millisecond

// key edits the query, or ends the editing.
func (s *search) key(a *app, k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case a.keys.Is(keys.Cancel, name):
		a.search = nil
		a.list.ClearSearch()
		a.browse(a.browsing) // in the prompt no message is chosen
		return nil
	case name == "enter":
		if s.matches == 0 && s.done {
			return nil
		}
		s.focused = false
		a.browse(true)
		return nil
	case name == "up":
		a.list.PrevMatch()
		return nil
	case name == "down":
		a.list.NextMatch()
		return nil
	case name == "backspace":
		s.query = s.query[:max(len(s.query)-1, 0)]
	case k.Text != "":
		s.query = append(s.query, []rune(k.Text)...)
	default:
		return nil
	}
	a.list.Search(string(s.query))
	s.matches, s.done = 0, len(s.query) == 0
	return s.step(a)
}

// step searches on, a few milliseconds at a time.
func (s *search) step(a *app) tea.Cmd {
	if s.done {
		return nil
	}
	was := s.matches
	s.matches, s.done = a.list.SearchStep(searchBudget)
	if was == 0 && s.matches > 0 {
		a.list.PrevMatch()
	}
	if s.done {
		return nil
	}
	return func() tea.Msg { // between two frames
		return then(func(*app) tea.Cmd {
			if a.search != s {
				return nil
			}
			return s.step(a)
		})
	}
}

func (s *search) line(a *app, width int) string {
	t := a.theme
	text := t.Accent.Paint("search: ") + term.OneLine(string(s.query))
	if s.focused {
		text += t.Accent.Paint(t.Glyph("▏", "_"))
	}
	found := "searching"
	if s.done {
		found = transcript.Count(s.matches, "message")
	}
	moves := a.keys.Key(keys.MatchNext) + " next, " + a.keys.Key(keys.MatchPrev) + " previous"
	if s.focused {
		moves = "up and down go to matches"
	}
	if len(s.query) > 0 {
		text += t.Dim.Paint(fmt.Sprintf("  %s · %s, %s closes", found, moves, a.keys.Key(keys.Cancel)))
	}
	return fit(text, width)
}
