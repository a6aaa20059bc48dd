package window_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// The request has the current list of tasks next to a summary that does not mention it. It has no list if no task is left.
func TestTodosNextToASummary(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.summarizer = func(context.Context, window.Task) (session.Summarized, error) {
		return session.Summarized{Summary: "All is well."}, nil
	}
	k.append(session.Todo{Items: []session.TodoItem{{Text: "find the needle", Status: "in_progress"}, {Text: "sew", Status: "pending"}}})
	const list = "<context name=\"todo\">\n[>] find the needle\n[ ] sew\n</context>"
	for range 2 { // the second summary has the list from the first
		k.fill(0.3)
		k.window.Compact(window.Ask{})
		k.say("Go on.")
		k.ask()
		if sent := texts(k.last.Messages); strings.Count(sent, list) != 1 {
			t.Errorf("the request is\n%s", sent)
		}
		k.answer("I go on.")
	}
	k.append(session.Todo{})
	k.fill(0.3)
	k.window.Compact(window.Ask{})
	k.say("Go on.")
	k.ask()
	if sent := texts(k.last.Messages); !strings.Contains(sent, "All is well.") || strings.Contains(sent, "needle") {
		t.Errorf("the request is\n%s", sent)
	}
}
