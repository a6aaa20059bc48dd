package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

func TestAForkShowsItsConversation(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello there.\nturn\ntext Again.")}, 80, 24)
	s.shows("test/script")
	s.types("hi")
	s.press("enter")
	s.shows("done")
	before := s.app.pane.session()
	s.types("/fork")
	s.press("enter")
	s.until("a fork", func(string) bool { return s.app.pane.session() != before })
	s.shows("Hello there.")
}

// After a resume, the result of a call comes in a later run than the call.
func TestALateResultIsShown(t *testing.T) {
	l := list.New(theme.New("plain", true))
	l.SetSize(80, 24)
	p := newPane(0, l, &card.Options{Theme: theme.New("plain", true), Now: time.Now, Folded: true}, false)
	call := llm.ToolCall{ID: "1", Name: "shell", Arguments: `{"command":"make"}`}
	asks := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{call}}}
	result := session.Message{Message: llm.ToolText(call, "done", false), Brief: "well done"}
	for i, b := range []session.Body{
		session.RunStarted{Run: "r1"},
		asks,
		session.RunEnded{Reason: session.ReasonInterrupted},
		session.RunStarted{Run: "r2"},
		session.CallStarted{Call: "1", Tool: "shell", Title: "make"},
		result,
	} {
		p.add([]session.Event{{Seq: int64(i + 1), ID: session.ID(fmt.Sprint(i)), Body: b}}, time.Now())
		l.Lines()
	}
	if got := ansi.Strip(strings.Join(l.Lines(), "\n")); !strings.Contains(got, "✓ shell make · well done") {
		t.Error(got)
	}
}
