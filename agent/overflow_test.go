package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// looks is a script of n turns that each look at another file.
func looks(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "call look {\"path\":\"/a%d\"}\n%s---\n", i, text)
	}
	return b.String()
}

// If the provider refuses a request as too long, at once or in the middle of its answer, the agent sends a smaller one, even if the
// context window of the model is unknown. The part of the answer that had arrived is void.
func TestOverflow(t *testing.T) {
	steps := looks(20, "text I look once more, and say so at some length, so that there is something to be left out.\n")
	for name, refusal := range map[string]string{
		"at once":       `error context_overflow "prompt is too long"`,
		"in the middle": "text Half of it\nerror context_overflow \"prompt is too long\"",
	} {
		t.Run(name, func(t *testing.T) {
			w := window.New(window.Options{})
			defer w.Close()
			b := newBench(t, steps+refusal+"\n---\ntext Done.", func(o *agent.Options) { o.Window = w })
			events := b.run("go")
			if end := events[len(events)-1].Body.(session.RunEnded); end.Reason != session.ReasonDone {
				t.Fatalf("the run ended with %+v", end)
			}
			requests := b.client.Requests()
			refused, again := requests[len(requests)-2], requests[len(requests)-1]
			if len(again.Messages) >= len(refused.Messages) {
				t.Errorf("%d messages were refused, and %d sent then", len(refused.Messages), len(again.Messages))
			}
			if text := b.texts(); strings.Contains(text, "Half") || !strings.Contains(text, "Done.") {
				t.Errorf("conversation:\n%s", text)
			}
		})
	}
}

// Where nothing more can be left out, the run says what is too long.
func TestOverflowOfOneMessage(t *testing.T) {
	w := window.New(window.Options{})
	defer w.Close()
	b := newBench(t, `error context_overflow "prompt is too long"`, func(o *agent.Options) { o.Window = w })
	events, err := drain(b.Run(t.Context(), llm.UserText(strings.Repeat("word ", 5000))))
	if err == nil || !strings.Contains(err.Error(), "prompt is too long") || !strings.Contains(err.Error(), "message of the user") {
		t.Errorf("error = %v", err)
	}
	endsWith(t, events, session.ReasonError, err.Error())
	if n := len(b.client.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
