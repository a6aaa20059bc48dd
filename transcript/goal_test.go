package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

func TestNotesAboutGoals(t *testing.T) {
	for want, g := range map[string]session.Goal{
		"info goal: all tests pass":                  {Goal: "all\ntests pass", State: session.GoalExecuting},
		"info round 3: go test failed":               {State: session.GoalExecuting, Reason: "go test failed", Used: session.GoalLimits{Rounds: 3}},
		"info goal completed in 2 rounds: they pass": {State: session.GoalCompleted, Reason: "they pass", Used: session.GoalLimits{Rounds: 2}},
		"info goal dropped":                          {State: session.GoalDropped, Reason: "x"},
		"warning goal blocked: no key":               {State: session.GoalBlocked, Reason: "no key"},
		"warning goal not completed: the limit of 2": {State: session.GoalExhausted, Reason: "the limit of 2"},
		"":  {State: session.GoalVerifying, Reason: "x"},
		" ": {State: session.GoalExecuting, Used: session.GoalLimits{Rounds: 3}}, // a run ended otherwise
	} {
		n, ok := transcript.Describe(g)
		got := string(n.Kind) + " " + n.Title
		if want = strings.TrimSpace(want); ok != (want != "") || ok && got != want {
			t.Errorf("%+v: %q, %v", g, got, ok)
		}
	}
	const want = "all tests pass\n\nstate   budget exhausted: the limit\nrounds  3/50\ntime    1m0s of 2m0s\nmoney   $0.50\ncheck   go test\n"
	got := transcript.Goal(session.Goal{
		Goal: "all tests pass", State: session.GoalExhausted, Reason: "the limit", Checks: []string{"go test"},
		Limits: session.GoalLimits{Rounds: 50, Time: session.Duration(2 * time.Minute)},
		Used:   session.GoalLimits{Rounds: 3, Time: session.Duration(time.Minute), Money: 0.5},
	})
	if got != want {
		t.Errorf("%q", got)
	}
}
