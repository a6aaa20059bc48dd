// Command subagent gives an agent a tool that delegates a task to an agent of its own, in a child session of the same store.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
)

type task struct {
	Text string `json:"task"`
}

func delegate(store index.Store, o *agent.Options) tool.Tool {
	return tool.New("delegate", "Lets another agent do a task and returns its answer.", tool.Nothing,
		func(ctx context.Context, t task, _ tool.Report) (tool.Result, error) {
			child, err := agent.New(ctx, store, *o)
			if err != nil {
				return tool.Result{}, err
			}
			defer child.Close()
			done, err := agent.Wait(child.Run(ctx, llm.UserText(t.Text)))
			return tool.TextResult(done.Text), err
		})
}

func main() {
	ctx, store := context.Background(), memory.New() // scripts answer here, instead of models.Client("anthropic/claude-sonnet-4-6")
	helper := agent.Options{Client: llmtest.Must("text The gate is rusty."), System: "You inspect things.", SubAgent: true}
	a, err := agent.New(ctx, store, agent.Options{
		Client: llmtest.Must("call delegate {\"task\":\"Look at the gate.\"}\n---\ntext It needs oil."),
		Tools:  []tool.Tool{delegate(store, &helper)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	helper.Parent = a.Session() // lists show the children of a session below it
	done, err := agent.Wait(a.Run(ctx, llm.UserText("What does the gate need?")))
	fmt.Println(done.Text, err)
}
