package agent_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// A digest that a person asks for between two runs is there at once, and the next run goes on from it.
func TestPrepare(t *testing.T) {
	w := window.New(window.Options{})
	defer w.Close()
	var script string
	for range 20 {
		script += "call look {\"path\":\"/a\"}\ntext I look once more, and say so at some length, so that there is something to be left out.\n---\n"
	}
	b := newBench(t, script+"text Done.\n---\ntext Gone on.", func(o *agent.Options) { o.Window = w })
	b.run("go")
	w.Compact(window.Ask{Focus: "the walls"})
	entries, err := b.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e session.Event) bool { d, ok := e.Body.(session.Digest); return ok && d.Focus == "the walls" }) {
		t.Fatalf("entries = %+v", entries)
	}
	b.run("and on")
	requests := b.client.Requests()
	if n := len(requests[len(requests)-1].Messages); n > 20 {
		t.Errorf("the request has %d messages", n)
	}
	if again, err := b.Prepare(t.Context()); err != nil || len(again) > 0 {
		t.Errorf("once more: %+v, %v", again, err)
	}
}

func TestPrepareWhileARunIsOn(t *testing.T) {
	b := newBench(t, "text x", nil)
	for e, err := range b.Run(t.Context(), llm.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, started := e.Body.(session.RunStarted); started {
			if _, err := b.Prepare(t.Context()); !errors.Is(err, agent.ErrBusy) {
				t.Errorf("error = %v", err)
			}
		}
	}
}
