package models_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
)

// A registry makes the client of a model, or of a pool of models.
func Example() {
	r := models.New(models.Options{
		Getenv: func(string) string { return "" },
		Pools:  map[string][]string{"mine": {"anthropic/claude-sonnet-4-6", "offline/rules"}},
	})
	choice, err := r.Choose("mine")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range choice.Models {
		fmt.Println(m.Ref())
	}
	m, err := llm.Collect(context.Background(), choice.Client, &llm.Request{Messages: []llm.Message{llm.UserText("count 1 to 3")}})
	fmt.Println(m.Role, err)
	// Output:
	// offline/rules
	// assistant <nil>
}
