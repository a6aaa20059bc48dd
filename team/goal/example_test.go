package goal_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/team/goal"
)

// The model claims that it is done. The first check fails, so it continues.
func Example() {
	ctx, store, runs := context.Background(), memory.New(), 0
	p := goal.New(goal.Options{Store: store, Run: func(context.Context, string) (goal.Outcome, error) {
		runs++
		return goal.Outcome{Passed: runs == 2, Output: "1 test failed"}, nil
	}})
	a, err := agent.New(ctx, store, agent.Options{
		Client: llmtest.Must("text <done>I am sure</done>\n---\ntext <done>Now it is</done>"), Hooks: []agent.Hook{p.Hook()},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	p.Bind(a)
	if err := p.Set(ctx, session.Goal{Goal: "all tests pass", Checks: []string{"go test ./..."}}); err != nil {
		log.Fatal(err)
	}
	if _, err := agent.Wait(a.Run(ctx, llm.UserText("Begin."))); err != nil {
		log.Fatal(err)
	}
	g, err := p.Goal(ctx)
	fmt.Println(g.State, "after", g.Used.Rounds, "rounds:", g.Reason, err)
	// Output: completed after 2 rounds: Now it is <nil>
}
