package window_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func header() window.Header {
	return window.Header{
		Model: llm.Model{Provider: "test", ID: "one"}, System: "Be good.", Settings: llm.Settings{MaxTokens: 100, Thinking: llm.ThinkLow, Schema: json.RawMessage(`{"type":"object"}`), Temperature: new(0.5)},
		Tools: []llm.Tool{{Name: "look", Description: "Look.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

func TestFullSendsEverything(t *testing.T) {
	h := header()
	req, entries, err := window.Full{}.Request(t.Context(), view.Entries(events("u:a a:b+1 =1:x")), h)
	if err != nil {
		t.Fatal(err)
	}
	if req.System != h.System || len(req.Tools) != 1 || req.MaxTokens != 100 || req.Thinking != llm.ThinkLow || req.ToolChoice != llm.ToolAuto ||
		string(req.Schema) != string(h.Schema) || *req.Temperature != 0.5 {
		t.Errorf("request = %+v", req)
	}
	if got := words(req.Messages); got != "u:a a:b+1 =1:x" {
		t.Errorf("messages = %s", got)
	}
	if len(entries) != 1 || entries[0].(session.Epoch).Reason != "start" || entries[0].(session.Epoch).System != h.System {
		t.Errorf("entries = %+v", entries)
	}
}

// If the header of the request changes, an epoch begins and names the reason. Otherwise the request extends the previous one.
func TestEpochs(t *testing.T) {
	path := view.Entries(events("u:a"))
	next := func(h window.Header) string {
		t.Helper()
		_, entries, err := window.Full{}.Request(t.Context(), path, h)
		if err != nil || len(entries) > 1 {
			t.Fatal(entries, err)
		}
		for _, b := range entries {
			path = append(path, session.Event{Body: b})
			return b.(session.Epoch).Reason
		}
		return ""
	}
	h := header()
	expect := func(want string) {
		t.Helper()
		if got := next(h); got != want {
			t.Errorf("epoch %q, want %q", got, want)
		}
		if got := next(h); got != "" {
			t.Errorf("epoch %q again, and nothing has changed", got)
		}
	}
	expect("start")
	h.MaxTokens = 7 // it is not part of the prefix
	expect("")
	h.Thinking = llm.ThinkHigh // providers cache each thinking level separately
	expect("thinking")
	h.System = "Be better."
	expect("system")
	h.Tools = append(h.Tools, llm.Tool{Name: "read"})
	expect("tools")
	h.Tools = []llm.Tool{h.Tools[0], {Name: "read", Description: "Read."}}
	expect("tools")
	h.Tools = []llm.Tool{{Name: "look", Description: "Look.", Schema: json.RawMessage(`{}`)}, h.Tools[1]}
	expect("tools")
	h.Tools = nil
	expect("tools")
	h.Model.ID = "two"
	expect("model")
	h.Model.Context = 1 << 20
	expect("")
}

// Within an epoch, each request begins with the whole previous one.
func TestPrefixIsStable(t *testing.T) {
	all := events("u:a a:b+1+2 =2:y =1:x a:c u:d a:e")
	var before []byte
	for _, n := range []int{1, 4, 6} {
		req, _, err := window.Full{}.Request(t.Context(), view.Entries(all[:n]), header())
		if err != nil {
			t.Fatal(err)
		}
		now, err := json.Marshal(req.Messages)
		if err != nil {
			t.Fatal(err)
		}
		if open := len(before) - 1; open > 0 && string(now[:open]) != string(before[:open]) {
			t.Errorf("after %d messages, the request\n%s\ndoes not extend\n%s", n, now, before)
		}
		before = now
	}
}

var errDamaged = errors.New("a page is damaged")

// damaged is a path with a read error after this many entries.
type damaged int

func (d damaged) Backward(context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for range d {
			if !yield(session.Event{Body: session.RunStarted{}}, nil) {
				return
			}
		}
		yield(session.Event{}, errDamaged)
	}
}

func TestDamagedPath(t *testing.T) {
	for n := range 2 {
		if _, _, err := (window.Full{}).Request(t.Context(), damaged(n), header()); !errors.Is(err, errDamaged) {
			t.Errorf("error = %v", err)
		}
	}
}
