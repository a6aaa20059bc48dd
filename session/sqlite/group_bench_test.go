package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// BenchmarkWriters appends from many writers at once, each to its own session, and each entry is synced.
func BenchmarkWriters(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			many(b, n, func(w session.Writer) error {
				_, err := w.Append(b.Context(), session.Stamp{}, session.CallStarted{Call: "1", Tool: "shell", Arguments: []byte(`{}`)})
				return err
			})
		})
	}
}

// BenchmarkAgents does what the journal does in one turn of an agent with two calls, one of them synced, for 1 and for 20 at once.
func BenchmarkAgents(b *testing.B) {
	requested, call := session.Requested{Segments: 9, Chain: "0123456789abcdef"}, session.CallStarted{Call: "1", Tool: "shell", Arguments: []byte(`{}`)}
	looks := call
	looks.Again = true
	result := session.Message{Message: answer("It does.").(session.Message).Message}
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			many(b, n, func(w session.Writer) error {
				for _, body := range []session.Body{requested, result, session.Decision{Call: "1"}, looks, call, result, result} {
					if _, err := w.Append(b.Context(), session.Stamp{Run: "r", Turn: 1}, body); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// many does f b.N times, shared by n writers.
func many(b *testing.B, n int, f func(session.Writer) error) {
	s := open(b, filepath.Join(b.TempDir(), "sessions.db"))
	writers := make([]session.Writer, n)
	for i := range writers {
		writers[i] = writerFor(b, s)
	}
	var (
		mu   sync.Mutex
		all  []time.Duration
		wg   sync.WaitGroup
		left = make(chan struct{}, b.N)
	)
	for range b.N {
		left <- struct{}{}
	}
	close(left)
	b.ResetTimer()
	for _, w := range writers {
		wg.Go(func() {
			var took []time.Duration
			for range left {
				start := time.Now()
				if err := f(w); err != nil {
					b.Error(err)
					return
				}
				took = append(took, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "per-s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}
