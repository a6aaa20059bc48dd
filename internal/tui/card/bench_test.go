package card_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

// streamed is an answer that has begun with a text.
func streamed(text string) (*transcript.Transcript, *transcript.Item) {
	t := &transcript.Transcript{}
	t.Add(session.Event{Body: live.MessageStarted{Model: "m"}, Time: start})
	it, _ := t.Add(session.Event{Body: live.Delta{Type: live.DeltaText, Text: text}, Time: start})
	return t, it
}

// A frame of an answer that streams 1000 tokens a second at 60 frames a second: 70 bytes further each.
func BenchmarkStreaming(b *testing.B) {
	code := "```go\n" + strings.Repeat("func (l *List) lines(i int) []string { // the lines\n\treturn l.items[i].Lines(l.width - 1)\n}\n", 400)
	list := strings.Repeat("- a point of a *list* with `code` and some words\n", 60)
	for _, test := range []struct{ name, before, more string }{
		{"prose", strings.Repeat(prose, 50), "some words of a paragraph with **bold** ones that goes on, and ends.\n\n"},
		{"code", code, "\treturn l.items[i].Lines(l.width - 1) // the lines of an item, again\n"},
		{"list", list, "- a further point of the list with `code` and more words than that\n"},
		{"one line", "", strings.Repeat("x", 69) + " "},
	} {
		b.Run(test.name, func(b *testing.B) {
			t, it := streamed(test.before)
			c := card.New(it, options("dark"))
			c.Lines(200)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; n%200 == 0 { // as long as 14 kB more
					b.StopTimer()
					t, it = streamed(test.before)
					c = card.New(it, options("dark"))
					c.Lines(200)
					b.StartTimer()
				}
				t.Add(session.Event{Body: live.Delta{Type: live.DeltaText, Text: test.more}, Time: start})
				c.Changed()
				c.Lines(200)
			}
		})
	}
}

// Long lines and long texts of all kinds.
func BenchmarkLong(b *testing.B) {
	const size = 1 << 20
	words := strings.Repeat("word ", size/5)
	for name, text := range map[string]string{
		"one word": strings.Repeat("x", size), "words": words, "kanji": strings.Repeat("漢", size/3), "emoji": strings.Repeat("👍🏽", size/8),
		"escapes": strings.Repeat("\x1b[1m", size/4), "zalgo": strings.Repeat("z\u0300\u0301\u0302", size/7), "lines": strings.Repeat("a line\n", size/7),
		"tabs": strings.Repeat("\t", size), "bidi": strings.Repeat("\u202e", size/3),
	} {
		for kind, it := range map[string]*transcript.Item{
			"prompt": fold(session.Message{Message: llm.UserText(text), Speaker: person})[0],
			"answer": fold(answer(text))[0],
			"note":   fold(session.Note{Text: text})[0],
		} {
			b.Run(fmt.Sprint(kind, " of ", name), func(b *testing.B) {
				c := card.New(it, options("dark"))
				for b.Loop() {
					c.Lines(120)
				}
			})
		}
		b.Run("call of "+name, func(b *testing.B) {
			m := session.Message{Message: llm.ToolText(llm.ToolCall{ID: "1", Name: "bash"}, text, false)}
			it := fold(answer("", llm.ToolCall{ID: "1", Name: "bash"}), session.CallStarted{Call: "1", Tool: "bash"}, m)[0]
			c := card.New(it, options("dark"))
			c.SetFolded(false)
			for b.Loop() {
				c.Lines(120)
			}
		})
	}
}

// A screen of cards that nothing has drawn yet.
func BenchmarkCards(b *testing.B) {
	items := conversation()
	o := options("dark")
	b.ReportAllocs()
	for b.Loop() {
		for _, it := range items {
			card.New(it, o).Lines(120)
		}
	}
}
