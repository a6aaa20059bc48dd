package editor

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// suggestions are the choices above the prompt: commands after a slash, files after @, or prompts of the history.
type suggestions struct {
	pen      *pen
	keys     *keys.Map
	files    *complete.Files
	history  *History
	commands func() []complete.Item
	later    func(work func() func() tea.Cmd) tea.Cmd // of the editor

	popup     complete.Popup
	kind      suggestion
	token     complete.Token // of a file
	query     string         // of the search of the history
	dismissed int            // the start of the text that the person closed the popup for; -1: none
}

type suggestion int

const (
	nothing suggestion = iota
	ofCommands
	ofFiles
	ofHistory
)

// close closes the popup.
func (s *suggestions) close() {
	s.kind, s.query = nothing, ""
	s.popup.Set(nil)
}

// refresh opens, updates or closes the popup by the text before the cursor. force is for a person who asks for it.
func (s *suggestions) refresh(force bool) tea.Cmd {
	if s.kind == ofHistory {
		return nil
	}
	p := s.pen
	start, _ := p.line(p.cursor)
	before := string(p.text[max(start, p.cursor-2000):p.cursor])
	if s.commands != nil && start == 0 && strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \t") {
		if s.dismissed == 0 && !force {
			return nil
		}
		s.kind = ofCommands
		s.popup.Title, s.popup.Empty, s.popup.Ends = "", "no such command", false
		s.popup.Set(complete.Filter(before[1:], s.commands(), complete.Shortest))
		return nil
	}
	token, ok := complete.Writing(before)
	if token.Start += p.cursor - len(before); ok && s.files != nil && (force || s.dismissed != token.Start) {
		again := s.kind == ofFiles && token.Pattern == s.token.Pattern && token.Start == s.token.Start
		s.token, s.dismissed = token, -1
		if again {
			return nil
		}
		if s.kind != ofFiles {
			s.popup.Set(nil)
			s.popup.Title, s.popup.Empty, s.popup.Ends = "files", "searching", true
		}
		s.kind = ofFiles
		s.popup.Narrow(token.Pattern) // until the list is searched
		return tea.Batch(s.await(s.files.Refresh(time.Now())), s.await(s.files.Find(token.Pattern)))
	}
	if !ok {
		s.dismissed = -1
	}
	s.close()
	return nil
}

// searchHistory opens the search of the history, or shows its next prompts.
func (s *suggestions) searchHistory() tea.Cmd {
	if s.kind != ofHistory {
		s.close()
		s.kind = ofHistory
		s.popup.Empty, s.popup.Ends = "no prompt matches", false
	}
	query := s.query
	s.popup.Title = "history: " + query + s.popup.Theme.Glyph("▏", "_")
	search := s.history.search(query)
	return s.later(func() func() tea.Cmd {
		items := search()
		return func() tea.Cmd {
			if s.kind == ofHistory && query == s.query {
				s.popup.Set(items)
			}
			return nil
		}
	})
}

// await takes the answer of a command of the files.
func (s *suggestions) await(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return s.later(func() func() tea.Cmd {
		msg := cmd()
		return func() tea.Cmd { return s.take(msg) }
	})
}

func (s *suggestions) take(msg tea.Msg) tea.Cmd {
	if s.files == nil {
		return nil
	}
	switch msg := msg.(type) {
	case complete.Listed:
		next := s.await(s.files.Update(msg))
		if s.kind == ofFiles {
			return tea.Batch(next, s.await(s.files.Find(s.token.Pattern)))
		}
		return next
	case complete.Found:
		if s.files.Newer(msg) && s.kind == ofFiles && msg.Pattern == s.token.Pattern {
			s.popup.Title = fmt.Sprintf("%d files", msg.Total)
			if s.popup.Empty = "no file matches"; msg.Partial {
				s.popup.Title, s.popup.Empty = s.popup.Title+", still searching", "searching"
			}
			s.popup.Set(msg.Items)
		}
	}
	return nil
}

// key handles a key while the popup is open. handled is false if the key is for the editor. submit says that the person wants to send the
// accepted command.
func (s *suggestions) key(msg tea.KeyPressMsg) (cmd tea.Cmd, handled, submit bool) {
	key := msg.String()
	is := func(a keys.Action) bool { return s.keys.Is(a, key) }
	switch {
	case s.kind == nothing:
		return nil, false, false
	case is(keys.Cancel):
		s.dismissed = 0
		if s.kind == ofFiles {
			s.dismissed = s.token.Start
		}
		s.close()
		return nil, true, false
	case is(keys.Up):
		s.popup.Up()
		return nil, true, false
	case is(keys.Down), s.kind == ofHistory && is(keys.HistorySearch):
		s.popup.Down()
		return nil, true, false
	case is(keys.Complete), is(keys.Submit), is(keys.Accept):
		item, ok := s.popup.Accept()
		if !ok {
			if s.kind == ofHistory {
				s.close()
				return nil, true, false
			}
			return nil, is(keys.Complete), false
		}
		cmd, submit = s.accept(item, is(keys.Complete))
		return cmd, true, submit
	case s.kind != ofHistory:
		return nil, false, false
	case key == "backspace":
		if s.query == "" {
			s.close()
			return nil, true, false
		}
		query := content(s.query)
		s.query = string(query[:query.prev(len(query))])
	case Typed(msg) != "":
		s.query += clean(msg.Text)
	default:
		return nil, false, false
	}
	return s.searchHistory(), true, false
}

// accept puts an item into the prompt.
func (s *suggestions) accept(item complete.Item, more bool) (cmd tea.Cmd, submit bool) {
	p := s.pen
	kind := s.kind
	p.sealed = true
	switch kind {
	case ofHistory:
		p.put(0, len(p.text), Text(item.Text), other)
	case ofCommands:
		if submit = !more && !item.More; submit {
			p.put(0, p.cursor, Text(item.Text), other)
		} else {
			p.put(0, p.cursor, Text(item.Text+" "), other)
		}
	case ofFiles:
		mention := complete.Write(item.Text)
		switch inside := more && strings.HasSuffix(item.Text, "/"); {
		case inside && strings.HasPrefix(mention, `@"`):
			mention = strings.TrimSuffix(mention, `"`) // the person goes on inside the directory
		case inside:
		default:
			mention += s.token.Lines + " "
		}
		p.put(s.token.Start, p.cursor, Text(mention), other)
	}
	p.sealed = true
	s.close()
	if kind == ofFiles {
		return s.refresh(false), false
	}
	return nil, submit
}

// recall moves through the history in the prompt.
type recall struct {
	pen     *pen
	history *History
	active  bool
	prefix  string
	saved   Draft // the prompt before
	at      int
}

// step shows the next older prompt (1), or the next newer one (-1), that begins with the text before the cursor. After the newest one comes the
// prompt that was there before.
func (r *recall) step(by int) {
	p := r.pen
	switch {
	case r.history == nil || !r.active && by < 0:
		return
	case !r.active:
		r.prefix, r.at, r.saved = string(p.text[:p.cursor]), -1, p.draft()
	}
	next := r.history.next(r.prefix, string(p.text), r.at, by)
	switch {
	case next >= 0:
		r.active, r.at = true, next
		p.set(Text(r.history.all[next].Text))
	case by < 0:
		r.active = false
		p.set(r.saved)
	}
}
