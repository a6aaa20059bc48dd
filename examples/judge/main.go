// Command judge lets three roles answer a question at once, under one budget, and a judge choose the best answer.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
)

type role struct {
	name, system string
	client       llm.Client
}

// ask lets an agent of its own answer.
func ask(ctx context.Context, store index.Store, o agent.Options, question string) (string, error) {
	a, err := agent.New(ctx, store, o)
	if err != nil {
		return "", err
	}
	defer a.Close()
	done, err := agent.Wait(a.Run(ctx, llm.UserText(question)))
	return done.Text, err
}

func main() {
	ctx, store, shared := context.Background(), memory.New(), budget.New("question", budget.Limits{Tokens: 100_000})
	roles := []role{ // scripts answer here, instead of models.Client("anthropic/claude-sonnet-4-6")
		{"optimist", "You see what can work.", llmtest.Must("text Ship it.")},
		{"skeptic", "You see what can fail.", llmtest.Must("text Test it first.")},
		{"engineer", "You see what it costs.", llmtest.Must("text Ship it to ten users.")},
	}
	answers, wg := make([]string, len(roles)), sync.WaitGroup{}
	for i, r := range roles {
		wg.Go(func() {
			text, err := ask(ctx, store, agent.Options{Client: shared.Client(r.client), System: r.system}, "Shall we ship?")
			if err != nil {
				text = "no answer: " + err.Error()
			}
			answers[i] = r.name + ": " + text
		})
	}
	wg.Wait()
	judge := agent.Options{Client: shared.Client(llmtest.Must(`text {"best":2,"why":"It is careful and fast."}`))}
	judge.Schema = json.RawMessage(`{"type":"object","properties":{"best":{"type":"integer"},"why":{"type":"string"}}}`)
	text, err := ask(ctx, store, judge, "Which answer is best?\n"+strings.Join(answers, "\n"))
	var verdict struct {
		Best int
		Why  string
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &verdict)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answers[verdict.Best])
	fmt.Println(verdict.Why)
}
