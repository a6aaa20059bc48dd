package team_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/team"
)

// meter bills every request of its clients.
type meter struct {
	mu              sync.Mutex
	billed, dearest float64
	requests        int
}

var dear = llm.Model{Provider: "test", ID: "dear", Context: 100_000, MaxOutput: 300, Price: llm.Price{Input: 1, Output: 20}}

func (m *meter) client(answer func(*llm.Request) llm.Message) llm.Client {
	return llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		a := answer(req)
		size := len(req.System)
		for _, m := range req.Messages {
			size += len(m.Text())
		}
		a.Usage = llm.Usage{Input: int64(size / 3), Output: 200} // as a provider counts it
		m.mu.Lock()
		defer m.mu.Unlock()
		cost := dear.Price.Cost(a.Usage)
		m.requests++
		m.billed += cost
		m.dearest = max(m.dearest, cost)
		return a, nil
	}, llmtest.WithModel(dear))
}

// Sub-agents without end, in the foreground and the background, exceed a limit of their owner by one request at most.
func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		limits     agent.Limits
		background bool
	}{
		"of the run":     {agent.Limits{Cost: 0.25}, false},
		"of the session": {agent.Limits{SessionCost: 0.25}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var m meter
			const limit, children = 0.25, 4
			b := newBench(t, nil, func(o *office) {
				o.limits = c.limits
				o.change = func(to *team.Options) { to.Wait = true }
				o.clients["owner"] = m.client(func(req *llm.Request) llm.Message {
					if len(req.Messages) > 1 {
						return llm.AssistantText("I wait.")
					}
					var calls llm.Content
					for i := range children {
						calls = append(calls, llm.ToolCall{Name: "agent", Arguments: fmt.Sprintf(`{"task":"%s","name":"%d","background":%t}`, strings.Repeat("work ", 2000), i, c.background)})
					}
					return llm.Message{Content: calls}
				})
				for i := range children {
					o.clients[fmt.Sprint(i)] = m.client(func(req *llm.Request) llm.Message {
						return llm.Message{Content: llm.Content{llm.ToolCall{Name: "notify", Arguments: fmt.Sprintf(`{"text":"step %d %s"}`, len(req.Messages), strings.Repeat("word ", 50))}}}
					})
				}
			})
			if _, err := agent.Wait(b.owner.Run(t.Context(), llm.UserText("go"))); err != nil {
				t.Fatal(err)
			}
			b.settled()
			if m.billed > limit+m.dearest || m.billed < limit-m.dearest || m.requests < 10 {
				t.Errorf("%d requests cost $%.3f, the limit is $%.2f and the dearest was $%.3f", m.requests, m.billed, limit, m.dearest)
			}
			var used llm.Usage
			for _, one := range b.tasks() {
				r := one.Report()
				if r == nil || r.Outcome != session.TaskFailed {
					t.Fatalf("the report is %+v", r)
				}
				used = used.Plus(r.Usage)
			}
			if used.Cost == 0 || used.Cost > m.billed {
				t.Errorf("the reports have a usage of $%.3f of $%.3f", used.Cost, m.billed)
			}
		})
	}
}
