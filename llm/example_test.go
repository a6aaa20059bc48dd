package llm_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

func ExampleCollect() {
	client := llmtest.Must(`text Four.`) // or a client of a real protocol
	req := &llm.Request{
		System:   "Answer in one word.",
		Messages: []llm.Message{llm.UserText("What is two and two?")},
	}
	answer, err := llm.Collect(context.Background(), client, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
	// Output: Four.
}
