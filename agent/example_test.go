package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
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

// A hook adds context to a prompt, changes the arguments of a call, and continues a run until its goal is reached. The journal has all of it.
func ExampleHook() {
	ctx := context.Background()
	greet := tool.New("greet", "Greet someone.", tool.Nothing, func(_ context.Context, a struct {
		Name string `json:"name"`
	}, _ tool.Report,
	) (tool.Result, error) {
		return tool.TextResult("Hello, " + a.Name + "."), nil
	})
	hook := agent.Hook{
		Name: "house",
		Prompt: func(context.Context, session.Message) (string, error) {
			return "The guests of today: Ada.", nil
		},
		BeforeCall: func(_ context.Context, c agent.Proposed) (string, error) {
			return strings.ReplaceAll(string(c.Arguments), "ada", "Ada"), nil
		},
		BeforeEnd: func(_ context.Context, answer llm.Message) string {
			if strings.Contains(answer.Text(), "greeted") {
				return "" // the run may end
			}
			return "Say whom you greeted."
		},
	}
	a, err := agent.New(ctx, memory.New(), agent.Options{
		Client: llmtest.Must("call greet {\"name\":\"ada\"}\n---\ntext Done.\n---\ntext I greeted Ada."),
		Tools:  []tool.Tool{greet}, Hooks: []agent.Hook{hook},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	for e, err := range a.Run(ctx, llm.UserText("Greet my guest.")) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if m, ok := e.Body.(session.Message); ok && m.Text() != "" {
			fmt.Println(m.Author().Kind, m.Author().Name+":", m.Text())
		}
	}
	// Output:
	// person : Greet my guest.
	// hook house: The guests of today: Ada.
	// tool greet: [This call ran with other arguments: {"name":"Ada"}. Changed by: hook house]
	// Hello, Ada.
	// model test/script: Done.
	// hook house: Say whom you greeted.
	// model test/script: I greeted Ada.
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
	run, err := a.Start(ctx, agent.Input{Messages: []llm.Message{llm.UserText("What is it?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := a.Steer(ctx, llm.UserText("In French, please.")); err != nil {
		fmt.Println(err)
	}
	for e, err := range a.Follow(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, ended := e.Body.(session.RunEnded); ended && e.Run == run {
			break
		}
	}
}
