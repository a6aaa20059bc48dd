package window_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// A process died while two calls were under way, and one result was lost. The journal stays as it is; the request has what
// every provider wants.
func Example() {
	one, two := llm.ToolCall{ID: "1", Name: "look"}, llm.ToolCall{ID: "2", Name: "look"}
	path := session.Entries{
		{Body: session.Message{Message: llm.UserText("What is there?")}},
		{Body: session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{one, two}}}},
		{Body: session.Message{Message: llm.ToolText(two, "a mill", false)}},
	}
	header := window.Header{Model: llm.Model{Provider: "test", ID: "model"}, System: "You are a guide."}
	req, entries, err := window.Full{}.Request(context.Background(), path, header)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("begins an epoch:", entries[0].(session.Epoch).Reason)
	for _, m := range req.Messages {
		fmt.Printf("%s %q\n", m.Role, m.Text())
	}
	// Output:
	// begins an epoch: start
	// user "What is there?"
	// assistant ""
	// tool "The result of this call was lost."
	// tool "a mill"
}
