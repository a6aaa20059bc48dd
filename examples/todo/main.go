// Command todo is a complete agent on one page. Its model is a script, so that it runs without a key: put a real one there.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
)

const script = "text I note it.\ncall add {\"item\":\"milk\"}\ncall add {\"item\":\"a pony\"}\n---\ntext \"\\nMilk it is.\""

type arguments struct {
	Item string `json:"item" jsonschema:"what to buy" min:"1"`
}

func main() {
	var list []string
	add := tool.New("add", "Adds an item to the shopping list.",
		func(context.Context, arguments) (tool.Effects, error) { // declared, so that no two calls run at once
			return tool.Effects{Writes: []tool.Path{tool.File("/list")}}, nil
		},
		func(_ context.Context, args arguments, _ tool.Report) (tool.Result, error) {
			list = append(list, args.Item)
			return tool.TextResult(fmt.Sprintf("%d on the list", len(list))), nil
		})
	gate := agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
		return agent.Verdict{Allow: !strings.Contains(c.Call.Arguments, "pony"), Reason: "no animals"}
	})
	ctx := context.Background()
	a, err := agent.New(ctx, memory.New(), agent.Options{
		Client: llmtest.Must(script), System: "You keep a shopping list.",
		Tools: []tool.Tool{add}, Gate: gate, Limits: agent.Limits{Turns: 10},
	})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range a.Run(ctx, llm.UserText("Milk and a pony, please.")) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case live.Delta:
			if b.Type == live.DeltaText {
				fmt.Print(b.Text)
			}
		case live.CallReady:
			fmt.Printf("\n[%s %s]", b.Call.Name, b.Call.Arguments)
		}
	}
	fmt.Println("\nlist:", list, a.Close())
}
