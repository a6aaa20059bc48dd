//go:build unix

package app

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
)

// BenchmarkChildren is what sub-agents cost with everything that the program gives them: a workspace, the policy, all tools, a journal on disk.
func BenchmarkChildren(b *testing.B) {
	done := llm.ToolCall{Name: "complete", Arguments: `{"summary": "done"}`}
	b.Run("memory of 100", func(b *testing.B) {
		const children = 100
		for b.Loop() {
			var working sync.WaitGroup
			working.Add(children)
			finish := make(chan struct{})
			var files atomic.Int64
			before := inUse()
			_, ag := owning(b, children, permission.Yolo, ofChildren(func(_ context.Context, req *llm.Request) (llm.Message, error) {
				switch answersIn(req) {
				case 0:
					return callsOf(
						llm.ToolCall{Name: "read", Arguments: `{"path": "0.txt"}`},
						llm.ToolCall{Name: "write", Arguments: fmt.Sprintf(`{"path": "made/%d", "content": "x"}`, files.Add(1))},
					)
				case 1:
					return callsOf(llm.ToolCall{Name: "shell", Arguments: `{"command": "ls"}`})
				case 2:
					working.Done()
					<-finish
				}
				return callsOf(done)
			}))
			ag.give(b, children)
			working.Wait()
			b.ReportMetric(float64(inUse()-before)/1e6, "MB")
			close(finish)
			ag.completed(b)
		}
	})
	for _, c := range []struct {
		children int
		thinks   time.Duration // the model
	}{{1, 0}, {20, 0}, {20, 100 * time.Millisecond}} {
		b.Run(fmt.Sprintf("turns of %d, the model takes %v", c.children, c.thinks), func(b *testing.B) {
			const turns = 20
			var mu sync.Mutex
			var all []time.Duration
			var used time.Duration
			answered := map[string]time.Time{} // by the prompt
			for b.Loop() {
				clear(answered)
				var begin sync.WaitGroup
				begin.Add(c.children)
				var before time.Duration
				var once sync.Once
				_, ag := owning(b, c.children, permission.Yolo, ofChildren(func(_ context.Context, req *llm.Request) (llm.Message, error) {
					now, said, prompt := time.Now(), answersIn(req), req.Messages[0].Text()
					if said == 0 { // all begin together
						begin.Done()
						begin.Wait()
						once.Do(func() { before = cpu(b) })
					}
					mu.Lock()
					if said > 0 {
						all = append(all, now.Sub(answered[prompt]))
					}
					mu.Unlock()
					defer func() {
						mu.Lock()
						answered[prompt] = time.Now()
						mu.Unlock()
					}()
					if c.thinks > 0 {
						<-time.After(c.thinks)
					}
					if said == turns {
						return callsOf(done)
					}
					return callsOf(llm.ToolCall{Name: "read", Arguments: fmt.Sprintf(`{"path": "%d.txt"}`, said)})
				}))
				ag.give(b, c.children)
				ag.completed(b)
				used += cpu(b) - before
			}
			slices.Sort(all)
			b.ReportMetric(float64(used.Microseconds())/1000/float64(len(all)), "cpu-ms/turn")
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms/turn")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms/turn")
		})
	}
}

// inUse is the memory in use, in bytes.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// cpu is the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
