package window_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// long is a session that goes on: it answers each request with a call, and each call with a result, as an agent would.
type long struct {
	t       *testing.T
	window  *window.Window
	header  window.Header
	path    session.Entries
	request *llm.Request
	ids     int
}

func newLong(t *testing.T, o window.Options) *long {
	w := window.New(o)
	t.Cleanup(w.Close)
	h := header()
	h.Model.Context, h.MaxTokens = 16_000, 1000
	return &long{t: t, window: w, header: h}
}

func (l *long) append(bodies ...session.Body) {
	for _, b := range bodies {
		l.ids++
		parent := session.ID("")
		if n := len(l.path); n > 0 {
			parent = l.path[n-1].ID
		}
		if h, ok := b.(session.Head); ok {
			for l.path[len(l.path)-1].ID != h.To {
				l.path = l.path[:len(l.path)-1]
			}
			parent = h.To
		}
		l.path = append(l.path, session.Event{Seq: int64(l.ids), ID: session.ID(fmt.Sprintf("e%d", l.ids)), Parent: parent, Body: b})
	}
}

func (l *long) say(text string) { l.append(session.Message{Message: llm.UserText(text)}) }

// ask makes the next request, as an agent does.
func (l *long) ask() *llm.Request {
	l.t.Helper()
	req, entries, err := l.window.Request(l.t.Context(), l.path, l.header)
	if err != nil {
		l.t.Fatal(err)
	}
	entries, err = window.Seal(l.t.Context(), l.path, entries, req)
	if err != nil {
		l.t.Fatal(err)
	}
	if r := entries[len(entries)-1].(session.Requested); r.Broken != "" {
		l.t.Errorf("within an epoch %s has changed", r.Broken)
	}
	l.append(entries...)
	l.request = req
	return req
}

// call lets the model call a tool, and gives the result.
func (l *long) call(tool, arguments, result string, effects string) {
	l.t.Helper()
	l.ask()
	id := fmt.Sprintf("c%d", l.ids)
	m := llm.Message{Role: llm.RoleAssistant, Model: l.header.Model.Ref(), Stop: llm.StopCalls, Content: llm.Content{
		llm.Text{Text: "Next."}, llm.ToolCall{ID: id, Name: tool, Arguments: arguments},
	}}
	m.Usage = llm.Usage{Input: int64(size(l.request)), Output: 20}
	l.append(session.Message{Message: m})
	room, err := l.window.Room(l.t.Context(), l.path, l.header)
	if err != nil {
		l.t.Fatal(err)
	}
	if room.Result > 0 && len(result) > room.Result {
		result = result[:room.Result]
	}
	l.append(session.CallStarted{Call: id, Tool: tool, Arguments: json.RawMessage(arguments), Effects: json.RawMessage(effects)})
	l.append(session.Message{Message: llm.ToolText(llm.ToolCall{ID: id, Name: tool}, result, false)})
}

// size is how many tokens a provider would report.
func size(req *llm.Request) int {
	n := len(req.System)
	for _, m := range req.Messages {
		n += len(m.Text()) + 16
		for _, c := range m.Calls() {
			n += len(c.Arguments)
		}
	}
	return n / 4
}

func reasons(path session.Entries) string {
	var out []string
	for _, e := range path {
		if b, ok := e.Body.(session.Epoch); ok {
			out = append(out, b.Reason)
		}
	}
	return strings.Join(out, " ")
}

// A long session stays within its window, keeps what it must, and within each epoch every request goes on from the one before.
func TestALongSession(t *testing.T) {
	l := newLong(t, window.Options{Cooldown: 1})
	l.say("Find the needle. [[keep]] The needle is blue.")
	for i := range 300 {
		output := strings.Repeat(fmt.Sprintf("line %d of the output, which nobody needs for long\n", i), 40)
		l.call("shell", fmt.Sprintf(`{"command":"look %d"}`, i), output, `{"exec":true}`)
		if n := size(l.request); n > window.Usable(l.header) {
			t.Fatalf("turn %d: the request has %d tokens of %d", i, n, window.Usable(l.header))
		}
		if !strings.Contains(fmt.Sprint(l.request.Messages), "The needle is blue") {
			t.Fatalf("turn %d: the pinned text is lost", i)
		}
	}
	if r := reasons(l.path); !strings.HasPrefix(r, "start ") || !strings.Contains(r, "reduction") || !strings.Contains(r, "compaction") {
		t.Errorf("epochs: %s", r)
	}
	t.Log(reasons(l.path))
}

var _ = context.Background
