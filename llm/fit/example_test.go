package fit_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// A call was lost, and another model had made up an ID that this one does not take.
func Example() {
	call := llm.ToolCall{ID: "functions.look:0", Name: "look", Arguments: `{"at": "the`}
	for _, m := range fit.Messages([]llm.Message{
		llm.UserText("What is there?"),
		{Role: llm.RoleAssistant, Content: llm.Content{llm.Text{Text: " "}, call}},
		{Role: llm.RoleUser, Content: llm.Content{llm.Image{MIME: "image/png"}}},
	}, fit.Rules{}) {
		for _, c := range m.Calls() {
			fmt.Println("call", c.ID, c.Arguments)
		}
		fmt.Printf("%s: %q\n", m.Role, m.Text())
	}
	// Output:
	// user: "What is there?"
	// call functions_look_0 {"malformed_arguments":"{\"at\": \"the"}
	// assistant: ""
	// tool: "The result of this call was lost."
	// user: "[image left out: this model cannot see images]"
}
