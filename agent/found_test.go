package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
)

// The result of an interrupted call lists the changes that were found. No other result lists them.
func TestFoundChangesAreInTheResult(t *testing.T) {
	many := session.FilesChanged{Call: "2", Cause: session.ByCommand, Found: true, Note: "And more."}
	for i := range 50 {
		many.Files = append(many.Files, session.FileChange{Path: fmt.Sprintf("/p/%d", i), After: &session.FileState{}})
	}
	some := session.FilesChanged{Call: "2", Cause: session.ByCommand, Found: true, Files: []session.FileChange{
		{Path: "/p/a", Before: &session.FileState{}, After: &session.FileState{}},
		{Path: "/p/b", Before: &session.FileState{}, Unsure: "it was late"},
	}}
	tests := []struct {
		name  string
		found []session.Body
		want  []string
	}{
		{"some", []session.Body{some}, []string{"(2):\n\"/p/a\": changed\n\"/p/b\": removed, perhaps by someone else"}},
		{"many", []session.Body{many}, []string{"(50):\n\"/p/0\": new\n", "\n… and 10 more\nAnd more."}},
		{"none", []session.Body{session.FilesChanged{Call: "2", Found: true}}, []string{"No file that is followed was different"}},
		{"not known", []session.Body{session.FilesChanged{Call: "2", Found: true, Note: "It is damaged."}}, []string{"call it again.\nIt is damaged."}},
		{"the last time", []session.Body{some, many}, []string{"(50):"}},
		{"of another call", []session.Body{session.FilesChanged{Call: "1", Found: true}}, []string{"before you call it again."}},
		{"reported by the command", []session.Body{session.FilesChanged{Call: "2"}}, []string{"before you call it again."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			left := append([]session.Body{
				session.RunStarted{Trigger: live.TriggerUser},
				session.Message{Message: text("go")},
				calls(call("1", "look"), call("2", "command")),
				started("1", "look", true), started("2", "command", false),
			}, test.found...)
			b := died(t, "text Well.", left...)
			got := ""
			for _, m := range bodies[session.Message](b.journal()) {
				if m.Role == llm.RoleTool && m.CallID == "2" {
					got = m.Text()
				} else if strings.Contains(m.Text(), "/p/") {
					t.Errorf("another message lists the changes: %+v", m)
				}
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) || !strings.HasPrefix(got, "The outcome of this call is unknown") {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			if strings.Count(got, "different") > 1 || strings.Contains(test.want[0], "before you") && !strings.HasSuffix(got, "call it again.") {
				t.Errorf("got %q", got)
			}
			checkJournal(t, b)
		})
	}
}

// counted is a store that counts the entries of branches that are read.
type counted struct {
	index.Store
	read atomic.Int64
}

func (c *counted) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range c.Store.Backward(ctx, id, leaf) {
			if c.read.Add(1); !yield(e, err) {
				return
			}
		}
	}
}

// An imported session of another program has no runs. Open does not look for one in all of its entries.
func TestOpenOfAnImportReadsLittle(t *testing.T) {
	store := &counted{Store: memory.New()}
	id, err := store.Import(t.Context(), func(yield func(session.Event, error) bool) {
		more := yield(session.Event{Body: session.Created{Dir: "/x"}}, nil)
		for i := 0; i < 10_000 && more; i++ {
			c := llm.ToolCall{ID: fmt.Sprint("c", i), Name: "look", Arguments: "{}"}
			answer := llm.Message{Role: llm.RoleAssistant, Model: "p/m", Content: llm.Content{c}}
			more = yield(session.Event{Body: session.Message{Message: answer}}, nil) && yield(session.Event{Body: session.Message{Message: llm.ToolText(c, "seen", false)}}, nil)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(t.Context(), store, id, agent.Options{Client: llmtest.New(t, "text unused")})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if n := store.read.Load(); n > 1000 {
		t.Errorf("it read %d entries", n)
	}
}
