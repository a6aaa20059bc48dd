package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// A summary that a person asks for between two runs is there at once, and the next run goes on from it.
func TestPrepare(t *testing.T) {
	w := window.New(window.Options{})
	defer w.Close()
	script := looks(20, "text I look once more, and say so at some length, so that there is something to be left out.\n")
	b := newBench(t, script+"text Done.\n---\ntext Gone on.", func(o *agent.Options) { o.Window = w })
	b.run("go")
	w.Compact(window.Ask{Focus: "the walls"})
	entries, err := b.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e session.Event) bool { d, ok := e.Body.(session.Summarized); return ok && d.Focus == "the walls" }) {
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
	b := newBench(t, "call command {\"path\":\"x\"}\n---\ntext x", nil)
	b.log.working = func() {
		if _, err := b.Prepare(t.Context()); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("error = %v", err)
		}
	}
	b.run("go")
}

// payer is a window whose first requests each come with a summary that has cost something.
type payer struct {
	window.Full
	left int
}

func (p *payer) Request(ctx context.Context, path view.Path, h window.Header) (*llm.Request, []session.Body, error) {
	req, entries, err := p.Full.Request(ctx, path, h)
	if p.left--; p.left < 0 || err != nil {
		return req, entries, err
	}
	through := session.ID("none")
	for e := range path.Backward(ctx) {
		through = e.ID
		break
	}
	return req, append(entries, session.Summarized{Through: through, Summary: "x", Usage: llm.Usage{Output: 5}}, session.Epoch{Reason: "compaction"}), nil
}

// What summaries cost counts to the run that needs them, and to its limits.
func TestSummariesCountToTheRun(t *testing.T) {
	script := "call look {\"path\":\"/a\"}\nusage output=1\n---\ncall look {\"path\":\"/b\"}\nusage output=1\n---\ntext Done.\nusage output=1"
	b := newBench(t, script, func(o *agent.Options) { o.Window, o.Limits.Tokens = &payer{left: 2}, 12 })
	events := b.run("go")
	endsWith(t, events, session.ReasonLimit, "12 used")
	if end := ending(t, events); end.Usage.Output != 12 {
		t.Errorf("usage = %+v", end.Usage)
	}
	total := int64(0)
	for _, e := range b.journal() {
		switch body := e.Body.(type) {
		case session.Requested:
			if body.Used.Output != total+5 {
				t.Errorf("before a request %d tokens were used, and it reports %d", total+5, body.Used.Output)
			}
		case session.Message:
			total = total + 5*min(1, body.Usage.Output) + body.Usage.Output
		}
	}
}
