package ledger_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// BenchmarkOpen looks at the requests of 200 sessions, 8000 in 200 MB.
func BenchmarkOpen(b *testing.B) {
	store, err := sqlite.Open(filepath.Join(b.TempDir(), "sessions.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	for range 200 {
		id, err := store.Create(b.Context(), session.Created{Dir: "/work"})
		if err != nil {
			b.Fatal(err)
		}
		w, err := store.Open(b.Context(), id, session.Lease{})
		if err == nil {
			_, err = w.Append(b.Context(), session.Stamp{Run: "r"}, manyRequests(40)...)
		}
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		a, err := ledger.Open(b.Context(), store, ledger.Query{Since: time.Now().Add(-time.Hour)})
		if err != nil {
			b.Fatal(err)
		}
		if total, err := a.Total(b.Context()); err != nil || total.Requests != 8000 {
			b.Fatal(total.Requests, err)
		}
	}
}

// manyRequests are requests with answers that call a tool, and its results.
func manyRequests(n int) []session.Body {
	epoch := session.Epoch{Model: priced, Reason: "start", System: strings.Repeat("You help. ", 500)}
	for i := range 20 {
		epoch.Tools = append(epoch.Tools, llm.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("It does work. ", 60)})
	}
	bodies := []session.Body{session.RunStarted{Run: "r"}, epoch, session.Message{Message: llm.UserText("Do it.")}}
	for i := range n {
		answer, call := llm.AssistantText(strings.Repeat("It is done. ", 40)), llm.ToolCall{ID: fmt.Sprint("c", i), Name: "read", Arguments: "{}"}
		answer.Model, answer.Usage = priced.Ref(), llm.Usage{Input: 1, CacheRead: int64(1000 * i), CacheWrite: 1000, Output: 100}
		answer.Content = append(answer.Content, call)
		bodies = append(bodies, session.Requested{Model: priced.Ref(), Estimate: 1000, Segments: 22 + 2*i, Same: 20 + 2*i},
			session.Message{Message: answer}, session.Message{Message: llm.ToolText(call, strings.Repeat("a line of a file\n", 1400), false)})
	}
	return append(bodies, session.RunEnded{Reason: session.ReasonDone, Turns: n})
}
