package transcript_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// A frontend folds events as they come and draws the items that they change.
func Example() {
	call := llm.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"main.go"}`}
	result := session.Message{Message: llm.ToolText(call, "package main", false), Brief: "1 line"}
	var t transcript.Transcript
	for seq, body := range []session.Body{
		session.Message{Message: llm.UserText("What is in main.go?"), Speaker: session.Speaker{Kind: session.SpeakerPerson}},
		session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: "test/model", Content: llm.Content{call}}},
		session.CallStarted{Call: "c1", Tool: "read", Title: "main.go"},
		result,
		session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: "test/model", Content: llm.Content{llm.Text{Text: "A package clause."}}}},
	} {
		it, begun := t.Add(session.Event{Seq: int64(seq + 1), Body: body})
		switch {
		case it.Text() != "" && begun:
			fmt.Printf("%s: %s\n", it.Speaker.Kind, it.Text())
		case !begun:
			c := it.Calls[0]
			fmt.Printf("%s: %s %s (%s)\n", c.State, c.Name, c.Title, c.Brief)
		}
	}
	// Output:
	// person: What is in main.go?
	// running: read main.go ()
	// succeeded: read main.go (1 line)
	// model: A package clause.
}
