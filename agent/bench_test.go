package agent_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// stores are the journals that the benchmarks write.
var stores = map[string]func(testing.TB) index.Store{
	"memory": func(testing.TB) index.Store { return memory.New() },
	"sqlite": func(tb testing.TB) index.Store {
		store, err := sqlite.Open(filepath.Join(tb.TempDir(), "sessions.db"))
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = store.Close() })
		return store
	},
}

// BenchmarkTurn is what the loop and the journal add to a turn: a scripted model asks for one tool that returns at once,
// and ends with the next answer. The figure of interest is the median of a whole run divided by its two turns.
func BenchmarkTurn(b *testing.B) {
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			store := open(b)
			client := llmtest.New(b, "text I look.\ncall look {\"path\":\"/a\"}\n---\ntext Done.", llmtest.ByHistory())
			var log callLog
			tools := log.tools()
			var turns []time.Duration
			for b.Loop() {
				a, err := agent.New(b.Context(), store, agent.Options{Client: client, Tools: tools})
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				collect(b, a.Run(b.Context(), llm.UserText("go")))
				turns = append(turns, time.Since(start)/2)
				if err := a.Close(); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(turns)
			b.ReportMetric(float64(turns[len(turns)/2].Microseconds()), "µs/turn-p50")
		})
	}
}

// BenchmarkLoop is a run of 50 turns, 49 of which ask for a tool that returns at once.
func BenchmarkLoop(b *testing.B) {
	script := strings.Repeat("text I look.\ncall look {\"path\":\"/a\"}\n---\n", 49) + "text Done."
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			store := open(b)
			client := llmtest.New(b, script, llmtest.ByHistory())
			var log callLog
			tools := log.tools()
			var runs []time.Duration
			for b.Loop() {
				a, err := agent.New(b.Context(), store, agent.Options{Client: client, Tools: tools, Limits: agent.Limits{Turns: 60, Tokens: 1e9}})
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				collect(b, a.Run(b.Context(), llm.UserText("go")))
				runs = append(runs, time.Since(start))
				if err := a.Close(); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(runs)
			b.ReportMetric(float64(runs[len(runs)/2].Microseconds())/1000, "ms/run-p50")
		})
	}
}

// BenchmarkDeltas is an answer of 20 000 small texts on its way from the model through loop and journal to the consumer.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 20_000
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			store := open(b)
			client := llmtest.New(b, "repeat 20000 text word ", llmtest.ByHistory())
			b.ReportAllocs()
			for b.Loop() {
				a, err := agent.New(b.Context(), store, agent.Options{Client: client})
				if err != nil {
					b.Fatal(err)
				}
				seen := 0
				for e, err := range a.Run(b.Context(), llm.UserText("go")) {
					if err != nil {
						b.Fatal(err)
					}
					if d, ok := e.Body.(live.Delta); ok { // several may come as one
						seen += strings.Count(d.Text, "word")
					}
				}
				if seen != deltas {
					b.Fatalf("%d deltas came, want %d", seen, deltas)
				}
				if err := a.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
