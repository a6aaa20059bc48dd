package card_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

var (
	start  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	person = session.Speaker{Kind: session.SpeakerPerson}
)

func options(name string) *card.Options {
	return &card.Options{Theme: theme.New(name, true), Now: func() time.Time { return start.Add(90 * time.Second) }, Folded: true}
}

// fold adds bodies to a transcript, one a second, and returns the items.
func fold(bodies ...session.Body) (items []*transcript.Item) {
	var t transcript.Transcript
	for i, b := range bodies {
		e := session.Event{Body: b, Time: start.Add(time.Duration(i) * time.Second)}
		if !(session.Event{Body: b}).Transient() {
			e.Seq, e.ID = int64(i+1), "e"
		}
		if it, begun := t.Add(e); begun {
			items = append(items, it)
		}
	}
	return items
}

func answer(text string, calls ...llm.ToolCall) session.Message {
	m := llm.Message{Role: llm.RoleAssistant, Model: "test/m", Content: llm.Content{llm.Text{Text: text}}}
	for _, c := range calls {
		m.Content = append(m.Content, c)
	}
	return session.Message{Message: m}
}

// Whatever a text contains, no line is too wide, and no control character but those of colors reaches the terminal.
func FuzzLines(f *testing.F) {
	for _, text := range []string{
		"plain", "a\x1b[2Jb\x07", "\u202egnp.exe\u202c", strings.Repeat("e\u0301\u0301", 300), "z" + strings.Repeat("\u0300", 5000), "\t\ttabs\tx",
		"漢字かな交じり文 한국어 👩‍👩‍👧‍👦👍🏽🇩🇪", "# h\n\n- a\n- [x] b\n\n```go\nfunc main() {\n\treturn\n}\n```\n\n|a|b|\n|-|-|\n|c|d|", "[x](https://example.com/a\x1bb) <http://e>",
		"@@ -1,2 +1,2 @@\n-a\n+b\n c\n", "\r\n\r", "<intent>x", strings.Repeat("x", 3000), "\xff\xfe", "\u200b\ufeff\u00ad\u200d\ufe0f\u20e3",
	} {
		for _, width := range []int{1, 2, 3, 20, 80} {
			f.Add(text, width)
		}
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width, text = 1+(width&0x7fffffff)%200, text[:min(len(text), 6000)]
		for _, it := range everything(text) {
			for _, name := range []string{"dark", "plain"} {
				o := options(name)
				o.Times, o.Reader, o.Folded, o.Links = len(text)%2 == 0, len(text)%5 == 0, len(text)%3 == 0, len(text)%2 == 1
				if o.Theme.ASCII = len(text)%7 == 0; o.Theme.ASCII {
					o.Reader = true
				}
				checkLines(t, card.New(it, o).Lines(width), width)
			}
		}
	})
}

func checkLines(t *testing.T, lines []string, width int) {
	t.Helper()
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Fatalf("%q takes %d of %d columns", line, n, width)
		}
		plain := links.ReplaceAllString(withoutColors(line), "")
		if strings.ContainsAny(plain, "\n\t") || plain != term.Harmless(plain) {
			t.Fatalf("%q is not harmless", line)
		}
	}
}

var links = regexp.MustCompile(`\x1b\]8;;([a-z]+:[!-~]*)?\x1b\\`)

// withoutColors removes SGR sequences, and only these.
func withoutColors(line string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest := strings.TrimLeft(after, "0123456789;"); strings.HasPrefix(rest, "m") {
			line = rest[1:]
		} else {
			b.WriteString("\x1b[")
			line = after
		}
	}
}

// everything returns items of all kinds that contain a text everywhere.
func everything(text string) []*transcript.Item {
	call := func(id string) llm.ToolCall { return llm.ToolCall{ID: id, Name: text, Arguments: `{"command":"x"}`} }
	asked := func(id string, m session.Message) session.Message {
		m.Message.Role, m.Message.CallID = llm.RoleTool, id
		m.Message.Content = llm.Content{llm.Text{Text: text}}
		return m
	}
	items := fold(
		session.Message{Message: llm.UserText(text), Speaker: person},
		session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerJob, Name: text}},
		live.MessageStarted{Model: text},
		live.Delta{Type: live.DeltaThinking, Text: text}, live.Delta{Type: live.DeltaText, Text: text},
		answer(text, call("1"), call("2"), call("3"), call("4")),
		session.CallStarted{Call: "1", Tool: text, Title: text}, live.Progress{Call: "1", Text: text},
		session.CallStarted{Call: "2", Tool: text, Title: text},
		session.Decision{Call: "3", Verdict: "deny", Reason: text, By: text},
		asked("2", session.Message{Brief: text, Diffs: []session.FileDiff{{Path: text, Text: text, Added: 2}, {Path: text, Text: "@@ -1 +1 @@\n-" + text + "\n+a" + text}}}),
		asked("3", session.Message{Outcome: session.OutcomeDenied}),
		asked("4", session.Message{Outcome: session.OutcomeFailed}),
		session.Todo{Items: []session.TodoItem{{Text: text, Status: "completed"}, {Text: text, Status: text}}},
		session.Asking{ID: text, Questions: []ask.Question{{Text: text, Options: []ask.Option{{Label: text, Description: text}}}}},
		session.Answered{ID: text, Answers: []ask.Answer{{Choices: []string{text}}}, By: session.Speaker{Kind: session.SpeakerPerson, Name: text}},
		session.Asking{ID: "b", Calls: []ask.Call{{Call: "1", Tool: text, Reason: text, Preview: text}}},
		session.Summarized{Summary: text, By: text}, session.Note{Text: text}, live.Notice{Text: text},
		session.RunEnded{Reason: session.ReasonError, Message: text},
		live.MessageStarted{Model: text}, live.Delta{Type: live.DeltaThinking, Text: text},
		session.RunEnded{Reason: session.ReasonCancelled},
	)
	p := session.Message{Message: llm.UserText(text), Speaker: person}
	p.Content = append(p.Content, llm.Image{MIME: text, Data: []byte(text)}, llm.Document{Name: text, MIME: text})
	return append(items, fold(p)...)
}
