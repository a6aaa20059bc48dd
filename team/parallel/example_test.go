package parallel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/team/parallel"
)

// Two models answer, and the one that used fewer tokens wins.
func ExampleRun() {
	ctx, store := context.Background(), memory.New()
	branch := func(name, script string) parallel.Branch {
		return parallel.Branch{Name: name, Open: func(ctx context.Context) (*agent.Agent, error) {
			return agent.New(ctx, store, agent.Options{Client: llmtest.Must(script)})
		}}
	}
	result, err := parallel.Run(ctx, parallel.Options{
		Branches: []parallel.Branch{branch("large", "text Forty-two, because…\nusage output=90"), branch("small", "text 42\nusage output=2")},
		Judges:   []parallel.Judge{parallel.FewestTokens()},
	}, llm.UserText("What is six times seven?"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Outcomes[result.Selected].Text, "by", result.Reason)
	// Output: 42 by small: it used the fewest tokens
}
