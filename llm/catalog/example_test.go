package catalog_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
)

func Example() {
	c := catalog.Embedded()
	m, _ := c.Model("anthropic", "claude-sonnet-4-5")
	fmt.Printf("%s reads %d tokens and costs $%.2f for 10,000 in and 1,000 out\n",
		m.Ref(), m.Context, m.Price.Cost(llm.Usage{Input: 10_000, Output: 1_000}))

	// This model is not listed under its name in the cloud. Its capabilities are known, its prices there are not.
	m, _ = c.Guess("bedrock", "apac.anthropic.claude-sonnet-4-5-20250929-v1:0")
	fmt.Println(m.Provider, m.Context, m.Images, m.Price.Input)

	// An unknown model works, too.
	m, ok := c.Guess("ollama", "my-own-model")
	fmt.Println(m.Ref(), m.Context, ok)
	// Output:
	// anthropic/claude-sonnet-4-5 reads 200000 tokens and costs $0.04 for 10,000 in and 1,000 out
	// bedrock 200000 true 0
	// ollama/my-own-model 0 false
}

func ExampleCatalog_With() {
	c, err := catalog.Embedded().With(catalog.Entry{
		Model: llm.Model{Provider: "ollama", ID: "my-own-model", Context: 32_768},
		Name:  "Mine",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, ok := c.Model("ollama", "my-own-model")
	fmt.Println(m.Context, ok)
	// Output: 32768 true
}
