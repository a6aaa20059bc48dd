// Command custom is an agent with two tools. It streams its answers, asks before it pays, and continues its session on the next start.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/tool"
)

type payment struct {
	To     string `json:"to"`
	Amount int    `json:"amount" min:"1"`
}

func run(ctx context.Context, client llm.Client, database, prompt string) error {
	balance := tool.New("balance", "Returns the balance of the account.", tool.Nothing,
		func(context.Context, struct{}, tool.Report) (tool.Result, error) { return tool.TextResult("100"), nil })
	pay := tool.New("pay", "Pays an amount.", nil, func(_ context.Context, p payment, _ tool.Report) (tool.Result, error) {
		return tool.TextResult(fmt.Sprintf("paid %d to %s", p.Amount, p.To)), nil
	})
	gate := agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
		var answer string
		if c.Effects.Unknown {
			fmt.Printf("\n%s %s? (y/n) ", c.Call.Name, c.Arguments)
			fmt.Scanln(&answer)
		}
		return agent.Verdict{Allow: !c.Effects.Unknown || answer == "y", By: "person", Reason: "the user said no"}
	})
	store, err := sqlite.Open(database)
	if err != nil {
		return err
	}
	c, _, err := conversation.Open(ctx, store, conversation.Which{Dir: "/accounts", Last: true, New: true},
		agent.Options{Client: client, System: "You manage an account.", Tools: []tool.Tool{balance, pay}, Gate: gate})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	for text, e := range agent.Texts(c.Run(ctx, conversation.Prompt{Message: llm.UserText(prompt)})) {
		fmt.Print(text)
		err = e
	}
	return errors.Join(err, c.Close(), store.Close())
}

func main() {
	client, err := models.Client(os.Args[1])
	if err == nil {
		err = run(context.Background(), client, os.Args[2], os.Args[3])
	}
	log.Println(err)
}
