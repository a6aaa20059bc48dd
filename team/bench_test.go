package team_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/tool"
)

// onDisk is an owner whose sub-agents have one model.
func onDisk(b *testing.B, children, running int, model llm.Client, opens func(team.Assignment, *agent.Options)) *bench {
	return newBench(b, map[string]string{"owner": "text Hi."}, func(o *office) {
		store, err := sqlite.Open(filepath.Join(b.TempDir(), "sessions.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		o.store, o.opens = store, opens
		o.change = func(to *team.Options) {
			to.Limits = team.Limits{Open: children, Running: running}
			to.Wake = func() {}
		}
		for i := range children {
			o.clients[fmt.Sprint(i)] = model
		}
	})
}

func (b *bench) give(children int) {
	for i := range children {
		if _, _, err := b.team.Start(b.t.Context(), session.TaskCreated{Text: "x", Name: fmt.Sprint(i), Background: true}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// BenchmarkTurns is what a team adds to the turns of 20 sub-agents that work at the same time, on disk. Each turn calls one tool. The figure is
// the time of a turn of each of them.
func BenchmarkTurns(b *testing.B) {
	const children, turns = 20, 20
	model := llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		if len(req.Messages) > 2*(turns-1) {
			return completion("done"), nil
		}
		return llm.Message{Content: llm.Content{llm.ToolCall{Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, len(req.Messages))}}}, nil
	})
	type place struct {
		At int `json:"at"`
	}
	look := tool.New("look", "Look at a place.", tool.Nothing, func(_ context.Context, p place, _ tool.Report) (tool.Result, error) {
		return tool.TextResult(fmt.Sprint("seen ", p.At)), nil
	})
	var spent time.Duration
	rounds := 0
	for b.Loop() {
		o := onDisk(b, children, children, model, func(_ team.Assignment, opts *agent.Options) { opts.Tools = append(opts.Tools, look) })
		start := time.Now()
		o.give(children)
		o.settled()
		spent += time.Since(start)
		rounds++
		if got := o.tasks()[children-1]; got.Report().Outcome != session.TaskCompleted {
			b.Fatal(got.Report())
		}
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(rounds*turns), "µs/turn-of-20")
	b.ReportMetric(float64(spent.Microseconds())/float64(rounds*turns*children), "µs/turn")
}

// BenchmarkMemory is the memory of 100 sub-agents that work at the same time.
func BenchmarkMemory(b *testing.B) {
	const children = 100
	for b.Loop() {
		var working sync.WaitGroup
		working.Add(children)
		finish := make(chan struct{})
		before := heap()
		o := onDisk(b, children, children, llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
			working.Done()
			<-finish
			return completion("done"), nil
		}), nil)
		o.give(children)
		working.Wait()
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		close(finish)
		o.settled()
	}
}

// heap is the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
