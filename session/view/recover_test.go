package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

// made is what is to be appended, in words.
func made(all []session.Body) string {
	var words []string
	for _, b := range all {
		switch b := b.(type) {
		case session.Message:
			if b.Role == llm.RoleTool {
				words = append(words, b.CallID+" "+string(b.Outcome))
			} else {
				words = append(words, b.Text()+" "+string(b.Stop))
			}
		case session.RunEnded:
			words = append(words, string(b.Reason))
		default:
			words = append(words, b.Kind())
		}
	}
	return strings.Join(words, ", ")
}

func TestRecover(t *testing.T) {
	start, end := session.RunStarted{Run: "r"}, session.RunEnded{}
	begun := func(id string, again bool) session.CallStarted { return session.CallStarted{Call: id, Again: again} }
	tests := []struct {
		name string
		path view.Entries
		want string
	}{
		{"nothing", nil, ""},
		{"a new session", path(session.Created{}), ""},
		{"left properly", path(session.Created{}, start, user("a"), answer("b"), end), ""},
		{"something after the end", path(start, end, session.ModelChanged{}, session.Todo{}), ""},
		{"just started", path(start), "interrupted"},
		{"within an answer", path(start, user("a"), partial(text("b"))), "interrupted"},
		{"before the calls", path(start, user("a"), answer("b", "1", "2")), "1 not_started, 2 not_started, interrupted"},
		{
			"calls that are under way", path(start, answer("b", "1", "2", "3"), begun("1", true), begun("3", false)),
			"1 interrupted, 2 not_started, 3 unknown, interrupted",
		},
		{
			"some have ended", path(start, answer("b", "1", "2", "3"), begun("1", true), done("1", ""), begun("3", false), done("2", session.OutcomeDenied)),
			"3 unknown, interrupted",
		},
		{"all have ended", path(start, answer("b", "1"), begun("1", false), done("1", "")), "interrupted"},
		{
			"an older answer used the same names", path(start, answer("b", "1"), begun("1", false), done("1", ""), answer("c", "1")),
			"1 not_started, interrupted",
		},
		{
			"an older run was lost too and has its end", path(start, answer("b", "1"), done("1", session.OutcomeUnknown), end, start, user("x")),
			"interrupted",
		},
		{"a rerun that was lost", path(user("a"), session.Head{}, start, answer("b", "1")), "1 not_started, interrupted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := view.Recover(t.Context(), test.path, nil)
			if err != nil || made(got) != test.want {
				t.Errorf("%q, %v; want %q", made(got), err, test.want)
			}
			again, err := view.Recover(t.Context(), append(test.path, path(got...)...), nil)
			if err != nil || len(again) > 0 {
				t.Errorf("after it was appended: %q, %v; want nothing", made(again), err)
			}
		})
	}
}

// A person who steps back into the middle of a run that has ended elsewhere has not lost it.
func TestRecoverAfterAStepBack(t *testing.T) {
	p := path(session.RunStarted{}, user("a"), answer("b", "1"))
	p = append(p, session.Event{Seq: 9, ID: "head", Body: session.Head{To: "e2", Reason: "rewind"}})
	if got, err := view.Recover(t.Context(), p, nil); err != nil || len(got) != 0 {
		t.Errorf("%q, %v; want nothing", made(got), err)
	}
}

// The end that is made up counts what the run did.
func TestRecoverCounts(t *testing.T) {
	one, two := answer("x"), answer("y")
	one.Usage, two.Usage = llm.Usage{Input: 1}, llm.Usage{Input: 2, Cost: 0.5}
	p := path(session.RunStarted{}, user("a"), one, session.Summarized{Usage: llm.Usage{Output: 4}}, two, partial(text("z")))
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range p {
		p[i].Time = began.Add(time.Duration(i) * time.Minute)
	}
	got, err := view.Recover(t.Context(), p, nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("%q, %v", made(got), err)
	}
	end := got[0].(session.RunEnded)
	if end.Turns != 2 || end.Usage != (llm.Usage{Input: 3, Output: 4, Cost: 0.5}) || time.Duration(end.Elapsed) != 5*time.Minute || end.Message == "" {
		t.Errorf("end = %+v", end)
	}
}

func TestSettle(t *testing.T) {
	end, nextTurn := session.RunEnded{}, live.TurnStarted{}
	tests := []struct {
		name string
		path view.Entries
		want string
	}{
		{"nothing", nil, ""},
		{"a whole answer", path(user("a"), partial(text("b")), answer("bc"), end), ""},
		{"no word of an answer", path(user("a"), end), ""},
		{"a cut answer", path(user("a"), partial(text("b")), partial(text("c")), end), "bc aborted"},
		{"without its thoughts", path(user("a"), partial(think("x"), text("b")), end), "b aborted"},
		{"nothing but thoughts", path(user("a"), partial(think("x")), end), "discarded"},
		{"discarded", path(user("a"), partial(text("b")), session.Discarded{}, end), ""},
		{"settled before", path(user("a"), partial(text("b")), end, answer("b"), user("c"), end), ""},
		{"of the last attempt", path(user("a"), partial(text("b")), end, nextTurn, partial(text("c")), end), "c aborted"},
		{"of the last attempt that said something", path(user("a"), partial(text("b")), end, session.RunStarted{}, session.Epoch{}, end), "b aborted"},
		{"another model since", path(user("a"), partial(text("b")), end, session.ModelChanged{}), "b aborted"},
		{"after the branch was left", path(user("a"), session.Head{}), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := view.Settle(t.Context(), test.path)
			if err != nil || made(got) != test.want {
				t.Errorf("%q, %v; want %q", made(got), err, test.want)
			}
			again, err := view.Settle(t.Context(), append(test.path, path(got...)...))
			if err != nil || len(again) > 0 {
				t.Errorf("after it was appended: %q, %v; want nothing", made(again), err)
			}
		})
	}
}

func TestContinuable(t *testing.T) {
	for name, test := range map[string]struct {
		path view.Entries
		can  bool
	}{
		"nothing":                 {nil, false},
		"a question":              {path(user("a")), true},
		"an answer":               {path(user("a"), answer("b")), false},
		"an answer with calls":    {path(user("a"), answer("b", "1")), true}, // they wait for a question
		"a result":                {path(user("a"), answer("b", "1"), done("1", "")), true},
		"a cut answer":            {path(user("a"), partial(text("b"))), true},
		"a cut answer at the end": {path(user("a"), answer("b"), partial(text("c"))), true},
		"one that restarts":       {path(user("a"), answer("b"), partial(text("c")), session.Discarded{}), false},
		"an answer made of that":  {path(user("a"), partial(text("b")), answer("b")), false},
	} {
		if err := view.Continuable(t.Context(), test.path); (err == nil) != test.can {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fork settles an answer that was cut before it. The run of that answer continues in the other session.
func TestForkOfAnUnfinishedRun(t *testing.T) {
	p := path(session.RunStarted{Run: "r"}, user("a"), partial(text("b")), session.Created{Fork: true})
	bodies, err := view.Settle(t.Context(), p)
	if err != nil || len(bodies) != 1 || bodies[0].(session.Message).Text() != "b" {
		t.Errorf("Settle: %v, %v", bodies, err)
	}
	if bodies, err := view.Recover(t.Context(), p, nil); err != nil || bodies != nil {
		t.Errorf("Recover: %v, %v", bodies, err)
	}
	if s, err := view.StateOf(t.Context(), p); err != nil || s.Running {
		t.Errorf("StateOf: %+v, %v", s, err)
	}
}
