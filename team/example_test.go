package team_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/team"
)

// worker is a sub-agent without a team of its own.
type worker struct{ a *agent.Agent }

func (w worker) Agent() *agent.Agent { return w.a }
func (w worker) Close() error        { return w.a.Close() }

// An agent gives a task to a sub-agent and gets its report.
func Example() {
	ctx := context.Background()
	store := memory.New()
	defer store.Close()
	crew, err := team.New(team.Options{
		Store: store,
		Open: func(ctx context.Context, a team.Assignment) (team.Member, error) {
			o := agent.Options{
				Client: llmtest.Must(`call complete {"summary":"The mill has two wheels."}`),
				Tools:  a.Tools, Hooks: []agent.Hook{a.Hook}, Gate: agent.AllowAll(),
				SubAgent: true, Parent: a.Parent, ParentRun: a.ParentRun, Budget: a.Budget,
			}
			if a.Session == "" {
				m, err := agent.New(ctx, store, o)
				return worker{m}, err
			}
			m, err := agent.Open(ctx, store, a.Session, o) // to continue it in another process
			return worker{m}, err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	owner, err := agent.New(ctx, store, agent.Options{
		Client: llmtest.Must("call agent {\"task\":\"Count the wheels of the mill.\",\"name\":\"wheels\"}\n---\ntext Two."),
		Tools:  crew.Tools(), Hooks: []agent.Hook{crew.Hook()}, Gate: agent.AllowAll(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer owner.Close()
	defer crew.Close()
	if err := crew.Bind(ctx, owner); err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := agent.Wait(owner.Run(ctx, llm.UserText("How many wheels has the mill?")))
	fmt.Println(outcome.Text, err)
	tasks, err := crew.List(ctx)
	fmt.Println(tasks[0].Name, tasks[0].Status(), tasks[0].Report().Summary, err)
	// Output:
	// Two. <nil>
	// wheels completed The mill has two wheels. <nil>
}
