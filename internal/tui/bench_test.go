package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
)

// BenchmarkTerminal measures frames at 200x60 in a session of 20 000 messages. Each operation includes the frame after it.
func BenchmarkTerminal(b *testing.B) {
	s := wideStage(b)
	update := func(m tea.Msg) {
		s.app.Update(m)
		s.app.View()
	}
	b.Run("frame", func(b *testing.B) {
		for b.Loop() {
			s.app.View()
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			update(tea.KeyPressMsg{Code: 'x', Text: "x"})
			if len(s.app.editor.Value().Text) > 200 {
				s.app.editor.Clear()
			}
		}
	})
	b.Run("33 tokens", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			update(tokens(s.app.pane.gen, n))
		}
	})
	b.Run("resize", func(b *testing.B) {
		width := 200
		for b.Loop() {
			width = 400 - 1 - width
			update(size(width, 60))
		}
		update(size(200, 60))
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			update(tea.KeyPressMsg{Code: tea.KeyPgUp})
			if s.app.list.AtTop() {
				s.app.list.Bottom()
			}
		}
	})
}

// wideStage is a screen of 200x60 with a session of 20 000 messages.
func wideStage(b *testing.B) *stage {
	h := &theater{client: llmtest.New(b, "text Hello."), tools: []tool.Tool{look()}}
	id := long(b, h, 5000, false)
	s := play(b, h, 200, 60)
	s.shows("test/script")
	s.gives("/resume " + string(id))
	s.until("the session", func(string) bool { return s.app.pane.session() == id && s.app.pane.reading == 0 })
	s.press("ctrl+t", "home")
	s.until("the beginning", func(string) bool { return !partial(s.app.pane) })
	s.press("end", "ctrl+t")
	return s
}

// tokens is the nth part of a stream: about 33 tokens. An answer has 6 600.
func tokens(gen, n int) events {
	var all []session.Event
	if n%200 == 0 {
		all = append(all, session.Event{After: 1 << 20, Body: live.MessageStarted{}})
	}
	text := "The parser *reads* the file and `returns` an error that names the line; it is 33 tokens of an answer, more or less, as models write.\n"
	if n%5 == 4 {
		text += fmt.Sprintf("\n## Part %d\n\n", n)
	}
	return events{gen: gen, all: append(all, session.Event{After: 1 << 20, Body: live.Delta{Type: live.DeltaText, Text: text}}), over: true}
}
