package app

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// Agents of one process that have nothing else in common exceed the limit of the day by at most one request, all together.
func TestAgentsShareTheLimitOfTheDay(t *testing.T) {
	const agents, limit, request = 8, 0.5, 0.04
	w := newWorkplace(t)
	var mu sync.Mutex
	billed, requests := 0.0, 0
	w.spec.Client = llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
		mu.Lock()
		defer mu.Unlock()
		billed += request
		requests++
		m := calls("list", fmt.Sprintf(`{"depth": %d}`, requests%20+1)) // a run that only repeats itself ends
		m.Usage = llm.Usage{Output: 100}                                // all that a reservation counts with
		return m, nil
	}, llmtest.WithModel(llm.Model{Provider: "test", ID: "dear", Context: 200_000, MaxOutput: 100, Price: llm.Price{Output: 400}}))
	w.spec.Limits.DayCost = limit
	var all sync.WaitGroup
	ends := make([]session.RunEnded, agents)
	for i := range agents {
		ag, err := w.app.New(t.Context(), w.spec)
		if err != nil {
			t.Fatal(err)
		}
		defer ag.Close()
		all.Go(func() {
			for e, err := range ag.Run(t.Context(), llm.UserText("Go.")) {
				if err != nil {
					t.Error(err)
				}
				if end, ok := e.Body.(session.RunEnded); ok {
					ends[i] = end
				}
			}
		})
	}
	all.Wait()
	for _, end := range ends {
		if end.Limit != "day_cost" {
			t.Errorf("a run ended with %+v", end)
		}
	}
	if billed < limit-request || billed > limit+request+1e-9 {
		t.Errorf("%.2f of %.2f were spent", billed, limit)
	}
}
