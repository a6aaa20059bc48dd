package tui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// FuzzTheScreen puts a text into every place of the screen: nothing but the colors of the theme reaches the terminal, and no line is too wide.
func FuzzTheScreen(f *testing.F) {
	for i, text := range []string{
		"plain", "\x1b[2J\x1b]0;title\x07", "\x9b31m\u009d", "a\tb\r\nc\x00\x7f\x08", "\u202eright to left\u2066", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "漢字👩‍👩‍👧‍👦",
		strings.Repeat("x", 3000), "\xff\xfe", "```\n\x1b[31m\n```\n| a | b |\n|---|---|\n| \x1b]8;;http://x\x1b\\ | c |", "/\x1b[31m", "\U00100000chip", "a\u2028b\u0085c",
	} {
		f.Add(text, uint16(80+i*10), uint8(24))
	}
	f.Add("\x1b[31m", uint16(1), uint8(1))
	f.Fuzz(func(t *testing.T, text string, width uint16, height uint8) {
		w, h := int(width)%260+1, int(height)%70+1
		s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, w, h)
		s.until("the session", func(string) bool { return s.app.pane.opened != nil })
		arguments, err := json.Marshal(map[string]string{"path": text})
		if err != nil {
			t.Fatal(err)
		}
		effects, err := json.Marshal(tool.Effects{Command: text, Dir: "/" + text, Hosts: []string{text}, Writes: []tool.Path{tool.File("/" + text)}})
		if err != nil {
			t.Fatal(err)
		}
		calls := llm.AssistantText(text)
		calls.Content = append(calls.Content, llm.ToolCall{ID: "c1", Name: text, Arguments: string(arguments)}, llm.ToolCall{ID: "c2", Name: "look", Arguments: "{}"})
		result := llm.Message{Role: llm.RoleTool, CallID: "c1", Tool: text, Content: llm.Content{llm.Text{Text: text}}}
		person := session.Speaker{Kind: session.SpeakerPerson, Name: text}
		var all []session.Event
		for i, b := range []session.Body{
			session.Title{Title: text},
			session.Message{Message: llm.UserText(text), Speaker: person},
			session.RunStarted{},
			session.Message{Message: calls, Speaker: session.Speaker{Name: text}},
			session.CallStarted{Call: "c1", Tool: text, Title: text, Arguments: arguments},
			session.Message{Message: result, Brief: text, Diffs: []session.FileDiff{{Path: text, Added: 1, Text: "--- a\n+++ b\n@@ -1 +1 @@\n+" + text}}},
			session.CallStarted{Call: "c2", Tool: "look", Title: text},
			session.Todo{Items: []session.TodoItem{{Text: text, Status: "pending"}, {Text: text, Status: "completed"}}},
			session.Queued{Draft: "d", Change: "added", Lane: session.FromFollowUp, Message: llm.UserText(text), Speaker: person},
			session.Note{Text: text},
		} {
			all = append(all, session.Event{Seq: int64(100 + i), ID: session.ID(rune('a' + i)), Body: b})
		}
		all = append(all, session.Event{After: 200, Body: live.Progress{Call: "c2", Text: text}})
		state := s.app.pane.state
		state.Model.ID, state.Model.Reference, state.Dir, state.Title = text, text, "/"+text, text
		state.Jobs = []workspace.JobStatus{{ID: text, Command: workspace.Command{Line: text}}}
		s.send(events{gen: s.app.pane.gen, all: all, over: true})
		s.send(states{gen: s.app.pane.gen, state: state, git: text, say: text})
		s.app.fail(errors.New(text))
		check := func() {
			t.Helper()
			for _, d := range [][2]int{{w, h}, {121, 30}, {h, w%70 + 1}} {
				s.send(size(d[0], d[1]))
				v := s.app.View()
				fits(t, v, d[0], d[1])
				harmless(t, v)
			}
		}
		check()
		s.app.foldAll()
		s.app.cards.Times = true
		s.app.redraw()
		check()
		s.app.list.Top()
		check()
		s.app.say(text)
		s.send(tea.PasteMsg{Content: text})
		check()
		s.app.search = newSearch()
		s.app.search.query = []rune(text)
		check()
		s.app.search = nil
		question := session.Asking{ID: text, Questions: []ask.Question{{Text: text, Options: []ask.Option{{Label: text, Description: text}}}}}
		if len(text)%2 == 0 {
			question = session.Asking{ID: text, Calls: []ask.Call{{Call: "c2", Tool: text, Arguments: arguments, Reason: text, Preview: text, Effects: effects, Grants: []ask.Grant{{Rules: []string{text}}}}}}
		}
		s.send(events{gen: s.app.pane.gen, all: []session.Event{{Seq: 300, ID: "q", Body: question}}, over: true})
		check()
		for _, do := range []func() tea.Cmd{
			func() tea.Cmd { return queue(s.app) }, func() tea.Cmd { return offer(s.app, dialog.NewJobs(s.app.settings), s.app.pane.state.Jobs) }, func() tea.Cmd { return rewind(s.app) }, func() tea.Cmd { return changes(s.app) },
			func() tea.Cmd { return todo(s.app) }, func() tea.Cmd { return page(s.app, text, text) }, func() tea.Cmd { return confirm(s.app, text, text, "yes", "no", nil) },
		} {
			do()
			check()
			for s.app.top() != nil {
				s.app.close(s.app.top())
			}
		}
	})
}

// harmless reports control characters other than line feeds and those of colors.
func harmless(t *testing.T, v tea.View) {
	t.Helper()
	rest := v.Content
	for {
		i := strings.IndexFunc(rest, func(r rune) bool {
			return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2066' || r == '\u2028')
		})
		if i < 0 {
			break
		}
		at := rest[i:]
		end := strings.IndexByte(at, 'm')
		if !strings.HasPrefix(at, "\x1b[") || end < 0 || strings.Trim(at[2:end], "0123456789;:") != "" {
			t.Fatalf("a control character: %q", at[:min(len(at), 40)])
		}
		rest = at[end:]
	}
	if strings.ContainsFunc(v.WindowTitle, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
		t.Fatalf("a control character in the title %q", v.WindowTitle)
	}
}
