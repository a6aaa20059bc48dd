package retract_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/retract"
)

// journal is a conversation that keeps what is wanted of it.
type journal struct {
	results []retract.Result
	steps   retract.Steps
	fail    error
	wishes  []string
}

func (j *journal) Results(context.Context) ([]retract.Result, error) { return j.results, j.fail }

func (j *journal) GiveUp(_ context.Context, r retract.Result, reason, summary string) error {
	j.wishes = append(j.wishes, r.Call+": "+reason+": "+summary)
	return j.fail
}

func (j *journal) Steps(context.Context) (retract.Steps, error) { return j.steps, j.fail }

func (j *journal) GoBack(_ context.Context, steps int, category, lesson string) error {
	j.wishes = append(j.wishes, strings.Repeat("<", steps)+" "+category+": "+lesson)
	return j.fail
}

func run(t *testing.T, one tool.Tool, arguments string) (tool.Result, error) {
	t.Helper()
	call, err := one.Prepare(t.Context(), arguments)
	if err != nil {
		return tool.Result{}, err
	}
	if !call.Effects.ReadOnly() || call.Effects.Idempotent {
		t.Errorf("effects %+v", call.Effects)
	}
	return call.Run(t.Context(), nil)
}

func TestCleanup(t *testing.T) {
	results := []retract.Result{
		{Call: "1", Tool: "read", Text: "alpha beta"}, {Call: "2", Tool: "shell", Text: "gamma"}, {Call: "3", Tool: "read", Text: "beta delta"},
	}
	for arguments, want := range map[string]string{
		`{"quote": "alpha", "reason": "r"}`:                                 "1: r: ",
		`{"quote": " gamma\n", "reason": " r ", "summary": " it's gamma "}`: "2: r: it's gamma",
		`{"tool": "read", "reason": "r"}`:                                   "3: r: ",
		`{"tool": "read", "back": 2, "reason": "r"}`:                        "1: r: ",
		`{"tool": "read", "back": 1, "quote": "beta", "reason": "r"}`:       "3: r: ",
		`{"quote": "beta", "reason": "r"}`:                                  "error: 2 results have this quote: read, back 1; read, back 2",
		`{"quote": "omega", "reason": "r"}`:                                 "error: no visible result",
		`{"tool": "read", "back": 3, "reason": "r"}`:                        "error: there are only 2 results of read",
		`{"reason": "r"}`:    "error: identify the result",
		`{"quote": "alpha"}`: "error: ",
	} {
		j := &journal{results: results}
		_, err := run(t, retract.New(j)[0], arguments)
		if wrong, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) || len(j.wishes) > 0 {
				t.Errorf("%s: error %v, wishes %q", arguments, err, j.wishes)
			}
			continue
		}
		if err != nil || len(j.wishes) != 1 || j.wishes[0] != want {
			t.Errorf("%s: %q, error %v, want %q", arguments, j.wishes, err, want)
		}
	}
}

func TestRevert(t *testing.T) {
	const arguments = `{"steps": 2, "category": "failure", "lesson": " the port is taken "}`
	j := &journal{steps: retract.Steps{Most: 2, Why: "the user's message is there"}}
	revert := retract.New(j)[1]
	_, err := run(t, revert, arguments)
	if err != nil || len(j.wishes) != 1 || j.wishes[0] != "<< failure: the port is taken" {
		t.Errorf("wishes %q, error %v", j.wishes, err)
	}
	for _, c := range []struct {
		steps           retract.Steps
		arguments, want string
	}{
		{retract.Steps{Most: 1, Why: "the user's message is there"}, arguments, "at most 1 answer: the user's message is there"},
		{retract.Steps{Why: "the conversation begins there"}, arguments, "cannot go back: the conversation begins there"},
		{retract.Steps{Most: 5, Pending: true}, arguments, "already"},
		{retract.Steps{Most: 5}, `{"steps": 1, "category": "failure", "lesson": " "}`, "the lesson is empty"},
		{retract.Steps{Most: 5}, `{"steps": 0, "category": "failure", "lesson": "x"}`, "steps"},
		{retract.Steps{Most: 5}, `{"steps": 1, "category": "whim", "lesson": "x"}`, "category"},
	} {
		j := &journal{steps: c.steps}
		if _, err := run(t, retract.New(j)[1], c.arguments); err == nil || !strings.Contains(err.Error(), c.want) || len(j.wishes) > 0 {
			t.Errorf("%s: error %v, wishes %q, want %q", c.arguments, err, j.wishes, c.want)
		}
	}
}

func TestAJournalThatFails(t *testing.T) {
	full := errors.New("the disk is full")
	j := &journal{fail: full, results: []retract.Result{{Call: "1", Tool: "read", Text: "x"}}, steps: retract.Steps{Most: 1}}
	tools := retract.New(j)
	for i, arguments := range []string{`{"quote": "x", "reason": "r"}`, `{"steps": 1, "category": "step", "lesson": "x"}`} {
		if _, err := run(t, tools[i], arguments); !errors.Is(err, full) {
			t.Errorf("%s: error %v", arguments, err)
		}
	}
}
