package chain_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// The first key is used up, so the second one is asked.
func Example() {
	first := &server{model: llm.Model{Provider: "example", ID: "large"}, words: []string{"402"}}
	second := &server{model: first.model, words: []string{"ok"}}
	c := chain.New(chain.RetryPolicy{}, chain.Memory{}, chain.Link{Keys: []chain.Key{{Name: "work", Client: first}, {Name: "own", Client: second}}})
	for e, err := range c.Stream(context.Background(), &llm.Request{}) {
		switch e := e.(type) {
		case nil:
			fmt.Println(err)
		case llm.Routed:
			fmt.Printf("now %s with the key %q because of %s\n", e.Model, e.Key, e.Cause.Kind)
		case llm.Done:
			fmt.Println(e.Message.Text())
		}
	}
	for _, h := range c.Health() {
		fmt.Println(h.Key, h.State)
	}
	// Output:
	// now example/large with the key "own" because of quota
	// yes
	// work spent
	// own ready
}

// A client that reads an answer as it comes must know what a reset means: what came so far is void.
func ExampleRetry() {
	client := llmtest.Must(`
		text Fo
		error overloaded "try later"
		---
		text Four.
	`)
	patient := chain.Retry(client, chain.RetryPolicy{Retries: 2, Delay: time.Millisecond})
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
