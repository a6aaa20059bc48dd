package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
)

// pixel is a picture.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\x64\xf8\xcfP\x0f\x00\x03\x86\x01\x80Z4}k\x00\x00\x00\x00IEND\xaeB`\x82")

// kept is what the files of the sample contained, by hash.
var kept = map[string]string{
	"old": "package cart\n\nfunc Total(p []float64) float64 {\n\tt := 0.0\n\tfor _, x := range p {\n\t\tt += x\n\t}\n\treturn t\n}\n",
	"new": "package cart\n\n// Total is in cents.\nfunc Total(p []int64) int64 {\n\tvar t int64\n\tfor _, x := range p {\n\t\tt += x\n\t}\n\treturn t\n}\n",
}

func content(hash string) ([]byte, error) {
	text, ok := kept[hash]
	if !ok {
		return nil, fmt.Errorf("no %s", hash)
	}
	return []byte(text), nil
}

// script is a session that is being written down.
type script struct {
	events []session.Event
	at     time.Time
}

// add appends an entry, some seconds after the one before it.
func (s *script) add(body session.Body) session.ID {
	s.at = s.at.Add(3 * time.Second)
	id := session.ID(fmt.Sprintf("entry%04d", len(s.events)+1))
	s.events = append(s.events, session.Event{ID: id, Time: s.at, Body: body})
	return id
}

func (s *script) user(text string) session.ID {
	return s.add(session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
}

// answer appends an answer of texts, thinking and calls.
func (s *script) answer(parts ...llm.Part) session.ID {
	m := llm.Message{Role: llm.RoleAssistant, Content: parts, Model: "anthropic/claude-sonnet-4-5", Stop: llm.StopEnd}
	m.Usage = llm.Usage{Input: 420, CacheRead: 18_000, Output: 350, Cost: 0.0132}
	if len(m.Calls()) > 0 {
		m.Stop = llm.StopCalls
	}
	return s.add(session.Message{Message: m})
}

func (s *script) result(c llm.ToolCall, text string, failed bool) {
	m := session.Message{Message: llm.ToolText(c, text, failed)}
	if failed {
		m.Outcome = session.OutcomeFailed
	}
	s.add(m)
}

func call(id, name string, args any) llm.ToolCall {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err) // the arguments of a test
	}
	return llm.ToolCall{ID: id, Name: name, Arguments: string(data)}
}

// sample is a session with one of everything.
func sample() []session.Event {
	s := &script{at: time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)}
	s.add(session.Created{Dir: "/home/me/shop", Version: "0.1.0"})
	s.add(session.RunStarted{Run: "r1"})
	s.add(session.Context{Whole: true, Blocks: []session.ContextBlock{{Name: "/home/me/shop/AGENTS.md", Text: "# Rules\n\n- cents are integers"}}})
	s.add(session.Epoch{Reason: "start", Model: llm.Model{Provider: "anthropic", ID: "claude-sonnet-4-5"}, System: "You are Tenon."})
	s.add(session.Message{Speaker: session.Speaker{Kind: session.SpeakerPerson}, Message: llm.Message{Role: llm.RoleUser, Content: llm.Content{
		llm.Text{Text: "The total in the cart is **off by one cent**. See the picture, and please:\n\n1. find out why\n2. mend it\n3. add a test"},
		llm.Image{MIME: "image/png", Data: pixel},
		llm.Document{MIME: "application/pdf", Name: "order.pdf", Data: pixel},
	}}})
	list, read := call("c1", "shell", map[string]string{"command": "grep -rn float64 --include=*.go . | head"}), call("c2", "read", map[string]string{"path": "cart.go"})
	s.answer(llm.Thinking{Text: "Sums of floats lose cents. Where is the sum?\n\n- `cart.go`?"}, llm.Text{Text: "<intent>find why the total is wrong</intent>I look at how the total is made."}, list, read)
	s.add(session.Decision{Call: "c1", Verdict: "allow", By: "mode"})
	s.add(session.CallStarted{Call: "c1", Tool: "shell", Arguments: json.RawMessage("{}")})
	s.result(list, "cart.go:3:func Total(p []float64) float64 {\ncart.go:4:\tt := 0.0\n", false)
	s.result(read, strings.Repeat("     1\tpackage cart\n", 60), false)
	reply := s.answer(llm.Text{Text: "The total is a sum of `float64`. Two ways out:\n\n| way | exact | work |\n|---|:-:|--:|\n| integers | yes | 1 file |\n| a decimal type | yes | 9 files |\n\n> Money is counted, not measured.\n\n```go\nfunc Total(p []int64) int64 {\n\tvar t int64 // cents\n\treturn t\n}\n```\n\nSee <https://example.org/money> or [the standard](https://example.org/iso?a=1&b=2). Shall I use integers?"})
	s.add(session.RunEnded{Reason: session.ReasonDone, Turns: 2, Usage: llm.Usage{Input: 840, CacheRead: 36_000, Output: 700, Cost: 0.0264}, Elapsed: session.Duration(12 * time.Second)})
	s.user("No, use a decimal library.")
	get := call("c3", "shell", map[string]string{"command": "go get example.org/decimal"})
	s.answer(llm.Text{Text: "I fetch one."}, get)
	s.add(session.Decision{Call: "c3", Verdict: "deny", By: "rule deny shell(go get *)", Reason: "nothing is fetched here"})
	m := view.Result(get, session.OutcomeDenied, "This call was denied: nothing is fetched here.")
	s.add(m)
	s.add(session.Head{To: reply, Reason: "rewind"})
	s.user("Yes, integers.")
	edit := call("c4", "edit", map[string]string{"path": "cart.go", "old_text": "float64", "new_text": "int64"})
	test := call("c5", "write", map[string]any{"path": "cart_test.go", "content": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {}\n"})
	run := call("c6", "shell", map[string]string{"command": "go test ./...", "description": "Run the tests"})
	s.answer(llm.Text{Text: "Now the change:"}, edit, test, run)
	s.add(session.Todo{Items: []session.TodoItem{{Text: "Sum in cents", Status: "completed"}, {Text: "Add a test", Status: "in_progress"}, {Text: "Look at `orders.go`", Status: "pending"}}})
	s.add(session.FilesChanged{Call: "c4", Cause: session.ByTool, Files: []session.FileChange{{
		Path: "/home/me/shop/cart.go", Before: &session.FileState{Hash: "old", Size: 100}, After: &session.FileState{Hash: "new", Size: 100},
	}}})
	s.result(edit, "Changed cart.go.", false)
	s.result(test, "Wrote cart_test.go.", false)
	s.result(run, "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 1999, want 2000\nFAIL\n", true)
	s.add(session.Summarized{Reason: "full", Summary: "## Goal\n\nThe total must be exact.\n\n## Done\n\n- `cart.go` sums integers", Before: 88_000, After: 3_100})
	s.add(session.Epoch{Reason: "compaction", Model: llm.Model{Provider: "anthropic", ID: "claude-sonnet-4-5"}})
	s.add(session.ModelChanged{Model: llm.Model{Provider: "openai", ID: "gpt-5.4"}, Reason: "chosen by --model"})
	s.user("Is it done?")
	s.answer(llm.Thinking{Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"x"}`)}, llm.Text{Text: "Yes: **all tests pass**."})
	s.add(session.RunEnded{Reason: session.ReasonLimit, Message: "the cost reached $1.00", Limit: "cost", Turns: 2})
	s.add(session.Note{Text: "Shipped on Tuesday."})
	s.add(session.Title{Title: "Cart total off by one cent"})
	return s.events
}

// stored puts events into a store, and returns the summary of the session.
func stored(t testing.TB, events []session.Event) (index.Store, index.Summary) {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	_, err := store.Import(context.Background(), func(yield func(session.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range store.List(context.Background(), index.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		return store, s
	}
	t.Fatal("there is no session")
	return nil, index.Summary{}
}
