package agent_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/memory"
)

// The smallest run: a model, a store, a question.
func Example() {
	ctx := context.Background()
	a, err := agent.New(ctx, memory.New(), agent.Options{Client: llmtest.Must("text It does.")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	outcome, err := agent.Wait(a.Run(ctx, llm.UserText("Does the mill turn?")))
	fmt.Println(outcome.Text, outcome.Ended.Reason, err)
	// Output: It does. done <nil>
}

// A run that stopped at a limit is taken up again.
func ExampleAgent_Continue() {
	ctx := context.Background()
	a, err := agent.New(ctx, memory.New(), agent.Options{
		Client: llmtest.Must("call look\n---\ntext There is no such tool."),
		Limits: agent.Limits{Turns: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	outcome, err := agent.Wait(a.Run(ctx, llm.UserText("Look around.")))
	fmt.Println(outcome.Ended.Reason, outcome.Ended.Limit, err)
	outcome, err = agent.Wait(a.Continue(ctx, agent.Continuation{}))
	fmt.Println(outcome.Ended.Reason, outcome.Text, err)
	// Output:
	// limit turns <nil>
	// done There is no such tool. <nil>
}

// A message that comes while the agent works enters between two turns.
func ExampleAgent_Steer() {
	ctx := context.Background()
	a, err := agent.New(ctx, memory.New(), agent.Options{Client: llmtest.Must("text It is a mill.\n---\ntext C'est un moulin.")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	for e, err := range a.Run(ctx, llm.UserText("What is it?")) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Body.Kind() == "message_started" && e.Turn == 1 {
			if _, err := a.Steer(ctx, llm.UserText("In French, please.")); err != nil {
				fmt.Println(err)
			}
		}
	}
	fmt.Println(len(a.Drafts()), "messages wait")
	// Output: 0 messages wait
}
