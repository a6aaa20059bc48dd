package chain_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
)

// The first key is used up, so the second one is asked.
func Example() {
	first := &server{model: llm.Model{Provider: "example", ID: "large"}, words: []string{"402"}}
	second := &server{model: first.model, words: []string{"ok"}}
	c := chain.New(llm.RetryPolicy{}, chain.Link{Keys: []chain.Key{{Name: "work", Client: first}, {Name: "own", Client: second}}})
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
