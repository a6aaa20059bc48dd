package window_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// full is a conversation of about 200 000 tokens: a prompt every twenty turns, and in each turn an answer with a call and its result.
func full(h window.Header, turns int) view.Entries {
	var path view.Entries
	add := func(b session.Body) {
		path = append(path, session.Event{Seq: int64(len(path) + 1), ID: session.ID(fmt.Sprintf("e%d", len(path)+1)), Body: b})
	}
	epoch := session.Epoch{Reason: "start", Model: h.Model, System: h.System, Tools: h.Tools, Thinking: h.Thinking}
	for i := range turns {
		if i%20 == 0 {
			add(session.Message{Message: llm.UserText(fmt.Sprintf("Question %d: what does the next part of it do, and why?", i)), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
		}
		if i == 0 {
			add(epoch)
		}
		add(session.Requested{Model: h.Model.Ref(), Estimate: int64(300 * i), Scale: 1})
		call := llm.ToolCall{ID: fmt.Sprintf("c%d", i), Name: "read", Arguments: fmt.Sprintf(`{"path":"part%d.go"}`, i)}
		answer := llm.Message{Role: llm.RoleAssistant, Model: h.Model.Ref(), Content: llm.Content{llm.Text{Text: "I read the next part."}, call}}
		answer.Usage = llm.Usage{Input: int64(300 * i), Output: 40}
		add(session.Message{Message: answer})
		add(session.CallStarted{Call: call.ID, Tool: call.Name, Arguments: json.RawMessage(call.Arguments), Effects: json.RawMessage(
			fmt.Sprintf(`{"reads":[{"name":"/part%d.go"}]}`, i))})
		text := strings.Repeat(fmt.Sprintf("func part%d(x int) int { return x + %d } // as it says\n", i, i), 18)
		add(session.Message{Message: llm.ToolText(call, text, false)})
	}
	return path
}

// BenchmarkRequest builds the next request of a conversation of 200 000 tokens: with free space, in a new epoch, which counts all tokens,
// and in a nearly full context window, which looks for results to trim.
func BenchmarkRequest(b *testing.B) {
	h := header()
	h.Model.Context = 400_000
	path := full(h, 690)
	h.MaxTokens = 1000
	b.Run("same epoch", func(b *testing.B) { requests(b, h, path) })
	epoch := h
	epoch.System += " And quick."
	b.Run("new epoch", func(b *testing.B) { requests(b, epoch, path) })
	small := h
	small.Model.Context = 250_000
	b.Run("nearly full", func(b *testing.B) { requests(b, small, path) })
}

func requests(b *testing.B, h window.Header, path view.Path) {
	w := window.New(window.Options{})
	defer w.Close()
	b.ReportAllocs()
	var req *llm.Request
	for b.Loop() {
		var entries []session.Body
		var err error
		if req, entries, err = w.Request(b.Context(), path, h); err != nil {
			b.Fatal(err)
		}
		if _, err = window.Seal(b.Context(), path, entries, req); err != nil {
			b.Fatal(err)
		}
	}
	v, err := window.Look(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(v.Estimate(h).Tokens), "tokens")
	b.ReportMetric(float64(len(req.Messages)), "messages")
}
