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
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
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

// BenchmarkRequests looks at the 3000 requests of a session in a small window, in which an epoch begins all the time.
func BenchmarkRequests(b *testing.B) {
	store, err := sqlite.Open(filepath.Join(b.TempDir(), "sessions.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	id := manyEpochs(b, store, 3000)
	epochs := 0
	b.Run("with tokens", func(b *testing.B) {
		for b.Loop() {
			requests, err := ledger.Requests(b.Context(), store, id)
			if err != nil || len(requests) != 3000 {
				b.Fatal(len(requests), err)
			}
			epochs = 0
			for _, r := range requests {
				if r.Epoch != "" {
					epochs++
				}
			}
		}
		b.ReportMetric(float64(epochs), "epochs")
	})
	b.Run("account", func(b *testing.B) {
		for b.Loop() {
			if _, err := ledger.Open(b.Context(), store, ledger.Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// manyEpochs writes a session of so many requests as an agent with a window of 16 000 tokens does.
func manyEpochs(b *testing.B, store index.Store, n int) session.SessionID {
	ctx := b.Context()
	id, err := store.Create(ctx, session.Created{Dir: "/work"})
	if err != nil {
		b.Fatal(err)
	}
	w, err := store.Open(ctx, id, session.Lease{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	branch, err := view.NewBranch(ctx, store, id)
	if err != nil {
		b.Fatal(err)
	}
	add := func(bodies ...session.Body) {
		events, err := w.Append(ctx, session.Stamp{Run: "r"}, bodies...)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events {
			branch.Append(e)
		}
	}
	all := manyRequests(n)
	epoch := all[1].(session.Epoch)
	h := window.Header{Model: epoch.Model, System: epoch.System, Tools: epoch.Tools[:5], Settings: llm.Settings{MaxTokens: 2000}}
	h.Model.Context = 16_000
	win := window.New(window.Options{})
	defer win.Close()
	for i, body := range all {
		switch body := body.(type) {
		case session.Requested:
			req, entries, err := win.Request(ctx, branch, h)
			if err == nil {
				entries, err = window.Seal(ctx, branch, entries, req)
			}
			if err != nil {
				b.Fatal(err)
			}
			add(entries...)
		case session.Message:
			if body.Role == llm.RoleTool {
				body.Content = llm.Content{llm.Text{Text: strings.Repeat("a line of a file\n", 100)}}
			}
			body.Usage = llm.Usage{} // the window would believe it
			add(body)
			if i%30 == 2 {
				add(session.Message{Message: llm.UserText("Now do the next part."), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
			}
		}
	}
	return id
}

// manyRequests are requests with answers that call a tool, and its results.
func manyRequests(n int) []session.Body {
	epoch := session.Epoch{Model: priced, Reason: "start", System: strings.Repeat("You help. ", 500)}
	for i := range 20 {
		epoch.Tools = append(epoch.Tools, llm.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("It does work. ", 60)})
	}
	bodies := []session.Body{session.RunStarted{Run: "r"}, epoch, session.Message{Message: llm.UserText("Do it."), Speaker: session.Speaker{Kind: session.SpeakerPerson}}}
	for i := range n {
		answer, call := llm.AssistantText(strings.Repeat("It is done. ", 40)), llm.ToolCall{ID: fmt.Sprint("c", i), Name: "read", Arguments: "{}"}
		answer.Model, answer.Usage = priced.Ref(), llm.Usage{Input: 1, CacheRead: int64(1000 * i), CacheWrite: 1000, Output: 100}
		answer.Content = append(answer.Content, call)
		bodies = append(bodies, session.Requested{Model: priced.Ref(), Estimate: 1000, Segments: 22 + 2*i, Same: 20 + 2*i},
			session.Message{Message: answer}, session.Message{Message: llm.ToolText(call, strings.Repeat("a line of a file\n", 1400), false)})
	}
	return append(bodies, session.RunEnded{Reason: session.ReasonDone, Turns: n})
}
