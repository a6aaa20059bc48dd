package llm_test

import (
	"context"
	"fmt"
	"time"

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

// A client that reads an answer as it comes must know what a reset means: what came so far is void.
func ExampleRetry() {
	client := llmtest.Must(`
		text Fo
		error overloaded "try later"
		---
		text Four.
	`)
	patient := llm.Retry(client, llm.RetryPolicy{Retries: 2, Delay: time.Millisecond})
	for e, err := range patient.Stream(context.Background(), &llm.Request{}) {
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		switch e := e.(type) {
		case llm.TextDelta:
			fmt.Println("text:", e.Text)
		case llm.Waiting:
			fmt.Printf("try %d of %d after: %v\n", e.Attempt, e.Of, e.Cause)
		case llm.Reset:
			fmt.Println("void, begin again")
		case llm.Done:
			fmt.Println("done:", e.Message.Text())
		}
	}
	// Output:
	// text: Fo
	// try 2 of 3 after: test/script: overloaded: try later
	// void, begin again
	// text: Four.
	// done: Four.
}
