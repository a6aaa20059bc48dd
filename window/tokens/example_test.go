package tokens_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/window/tokens"
)

func ExampleText() {
	fmt.Println(tokens.Text("The quick brown fox jumps over the lazy dog."))
	// Output: 10
}

// The size of the next request of a conversation is the reported size of the last one and an estimate of the new messages.
func Example() {
	model := llm.Model{Provider: "anthropic", ID: "claude-sonnet-4-5"}
	scale := tokens.Start(model)

	req := &llm.Request{System: "You are a guide.", Messages: []llm.Message{llm.UserText("What is there to see in the valley?")}}
	local := scale.Family().Request(req)

	answer := llm.AssistantText("A mill, whose wheel still turns.")
	answer.Usage = llm.Usage{Input: 31, Output: 12} // from the provider
	scale = scale.Learn(local, int(answer.Usage.Prompt()))

	fmt.Println(scale.After(answer, llm.UserText("How old is it?")))
	// Output: 54
}
