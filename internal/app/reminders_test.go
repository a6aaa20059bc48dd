package app

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
)

// A run that no one watches goes on if the model stops with open work: at most twice, and not with the same words.
func TestReminders(t *testing.T) {
	todo := func(items ...string) string {
		var list []string
		for _, item := range items {
			status, text, _ := strings.Cut(item, " ")
			list = append(list, `{"text": "`+text+`", "status": "`+status+`"}`)
		}
		return `call todo {"items": [` + strings.Join(list, ", ") + "]}\n---\n"
	}
	const stops = "text Later.\n---\n"
	for _, test := range []struct {
		name, script string
		mode         permission.Mode
		turns        int
		says         []string // the reminders
	}{
		{"nothing is open", todo("completed a") + "text Done.", permission.Yolo, 2, nil},
		{"an item is open", todo("completed a", "pending b") + stops + todo("completed a", "completed b") + "text Done.", permission.Yolo, 4, []string{"- b"}},
		{"the list stays", todo("pending a") + stops + "text I cannot.", permission.Yolo, 3, []string{"- a"}},
		{
			"twice at most", todo("pending a", "pending b", "pending c") + stops + todo("completed a", "pending b", "pending c") + stops +
				todo("completed a", "completed b", "pending c") + "text Enough.", permission.Yolo, 6, []string{"- a\n- b\n- c", "- b\n- c"},
		},
		{"a plan", todo("pending a") + "text The plan.", permission.Plan, 2, nil},
		{
			"a job", `call shell {"command": "sleep 1000", "background": true}` + "\n---\n" + stops + "text It runs.", permission.Yolo, 3,
			[]string{"background job job1 is running: sleep 1000"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			ag := openAgent(t, test.script, test.mode)
			t.Cleanup(func() { _ = ag.Close() }) // a warning about the job
			var said []string
			var end session.RunEnded
			for e, err := range ag.Run(t.Context(), llm.UserText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				switch b := e.Body.(type) {
				case session.Message:
					if b.Role == llm.RoleUser && b.Source == session.FromHook {
						said = append(said, b.Text())
						if b.Author().Kind != session.SpeakerTenon {
							t.Errorf("%+v says %q", b.Author(), b.Text())
						}
					}
				case session.RunEnded:
					end = b
				}
			}
			if end.Reason != session.ReasonDone || end.Turns != test.turns || len(said) != len(test.says) {
				t.Fatalf("the run ended after %d turns as %s (%s), with the reminders %q", end.Turns, end.Reason, end.Message, said)
			}
			for i, want := range test.says {
				if !strings.Contains(said[i], want) {
					t.Errorf("reminder %d is %q", i+1, said[i])
				}
			}
		})
	}
}

// Someone who watches needs no reminder, and a list of an earlier run is no work of this one.
func TestNoReminders(t *testing.T) {
	ag := openAgent(t, "call todo {\"items\": [{\"text\": \"a\", \"status\": \"pending\"}]}\n---\ntext Later.\n---\ntext It is blue.", permission.Yolo)
	t.Cleanup(func() { _ = ag.Close() })
	ag.spec.Ask = true
	for _, prompt := range []string{"go", "what color is it?"} {
		o, err := agent.Wait(ag.Run(t.Context(), llm.UserText(prompt)))
		if err != nil || o.Ended.Reason != session.ReasonDone {
			t.Fatalf("%+v, %v", o, err)
		}
		ag.spec.Ask = false
	}
}
