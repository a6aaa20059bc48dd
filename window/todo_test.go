package window_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// What is to be done is told again beside a summary that says nothing of it, as it was last; nothing is told when nothing is left.
func TestTodosBesideASummary(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.digest = func(context.Context, window.Task) (session.Summarized, error) {
		return session.Summarized{Summary: "All is well."}, nil
	}
	k.append(session.Todo{Items: []session.TodoItem{{Text: "find the needle", Status: "in_progress"}, {Text: "sew", Status: "pending"}}})
	const list = "<context name=\"todo\">\n[>] find the needle\n[ ] sew\n</context>"
	for range 2 { // the second digest knows of it by the first
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
