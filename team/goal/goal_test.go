package goal_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/team/goal"
	"github.com/tenon-agent/tenon/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// field is an agent that pursues a goal. Its tool change journals a change of a file, so that the state of the files is the argument.
type field struct {
	*agent.Agent
	goal  *goal.Pursuit
	t     *testing.T
	store *memory.Store
	ran   []string // checks
	pass  func(command string) bool
}

func newField(t *testing.T, script string, change func(*goal.Options, *agent.Options)) *field {
	t.Helper()
	f := &field{t: t, store: memory.New(), pass: func(string) bool { return true }}
	t.Cleanup(func() { f.store.Close() })
	g := goal.Options{Store: f.store, Run: func(_ context.Context, command string) (goal.Outcome, error) {
		f.ran = append(f.ran, command)
		return goal.Outcome{Passed: f.pass(command), Output: "the output of " + command}, nil
	}}
	type arguments struct {
		To string `json:"to"`
	}
	edit := tool.New("change", "Change the file.", tool.Nothing, func(ctx context.Context, a arguments, _ tool.Report) (tool.Result, error) {
		return tool.TextResult("changed"), f.Record(ctx, session.FilesChanged{
			Call: agent.CallID(ctx), Cause: session.ByTool, Files: []session.FileChange{{Path: "/f", After: &session.FileState{Hash: a.To}}},
		})
	})
	look := tool.New("look", "Look at the file.", tool.Nothing, func(context.Context, arguments, tool.Report) (tool.Result, error) {
		return tool.TextResult("seen"), nil
	})
	o := agent.Options{Client: llmtest.New(t, script), Tools: []tool.Tool{edit, look}, Gate: agent.AllowAll()}
	if change != nil {
		change(&g, &o)
	}
	f.goal = goal.New(g)
	o.Hooks = append(o.Hooks, f.goal.Hook())
	var err error
	if f.Agent, err = agent.New(t.Context(), f.store, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Agent.Close() })
	f.goal.Bind(f.Agent)
	return f
}

// pursue sets a goal, runs the agent, and returns the goal at the end.
func (f *field) pursue(g session.Goal) session.Goal {
	f.t.Helper()
	if g.Goal = "the tests pass"; g.By.Kind == "" {
		g.By = session.Speaker{Kind: session.SpeakerPerson}
	}
	if err := f.goal.Set(f.t.Context(), g); err != nil {
		f.t.Fatal(err)
	}
	return f.run("go")
}

func (f *field) run(prompt string) session.Goal {
	f.t.Helper()
	if _, err := agent.Wait(f.Run(f.t.Context(), llm.UserText(prompt))); err != nil {
		f.t.Fatal(err)
	}
	g, err := goal.Read(f.t.Context(), f.store, f.Session())
	if err != nil {
		f.t.Fatal(err)
	}
	if now, err := f.goal.Goal(f.t.Context()); err != nil || fmt.Sprint(now) != fmt.Sprint(g) {
		f.t.Errorf("the journal has %+v, the pursuit %+v (%v)", g, now, err)
	}
	return g
}

// states are the states of the goal in the journal, in their order.
func (f *field) states() (all []session.GoalState) {
	f.t.Helper()
	for e, err := range f.store.Read(f.t.Context(), f.Session(), 0, session.Goal{}.Kind()) {
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, e.Body.(session.Goal).State)
	}
	return all
}

// said are the texts of the hook in the conversation.
func (f *field) said() (all []string) {
	f.t.Helper()
	for e, err := range f.store.Read(f.t.Context(), f.Session(), 0, session.Message{}.Kind()) {
		if err != nil {
			f.t.Fatal(err)
		}
		if m := e.Body.(session.Message); m.Speaker.Name == "goal" {
			all = append(all, m.Text())
		}
	}
	return all
}

func TestExitCodesDecide(t *testing.T) {
	f := newField(t, "text It is done. <done>I am sure</done>\n---\ncall change {\"to\":\"b\"}\n---\ntext Now it is. <done>all pass</done>", nil)
	f.pass = func(string) bool { return len(f.ran) > 1 }
	g := f.pursue(session.Goal{Checks: []string{"go test"}})
	if g.State != session.GoalCompleted || g.Reason != "all pass" || g.Used.Rounds != 2 || len(f.ran) != 2 {
		t.Errorf("%+v after %q", g, f.ran)
	}
	said := f.said()
	if len(said) != 2 || !strings.Contains(said[0], "- go test") || !strings.Contains(said[1], "go test") || !strings.Contains(said[1], "the output of go test") {
		t.Errorf("%q", said)
	}
	want := []session.GoalState{session.GoalExecuting, session.GoalVerifying, session.GoalExecuting, session.GoalVerifying, session.GoalCompleted, session.GoalCompleted}
	if got := f.states(); !slices.Equal(got[:5], want[:5]) {
		t.Errorf("%q", got)
	}
}

// A model that never writes the tags is done when the checks pass.
func TestChecksNeedNoClaim(t *testing.T) {
	f := newField(t, "text It is done.", nil)
	if g := f.pursue(session.Goal{Checks: []string{"a", "b"}}); g.State != session.GoalCompleted || !slices.Equal(f.ran, []string{"a", "b"}) {
		t.Errorf("%+v after %q", g, f.ran)
	}
}

func TestWithoutChecksTheModelMustClaim(t *testing.T) {
	f := newField(t, "text I looked at it.\n---\ntext <done>I read all of it</done>", nil)
	if g := f.pursue(session.Goal{}); g.State != session.GoalCompleted || g.Reason != "I read all of it" || g.Used.Rounds != 2 {
		t.Errorf("%+v", g)
	}
}

func TestBlocked(t *testing.T) {
	f := newField(t, "text <blocked>credentials: I have no key</blocked>\n---\ntext <done>the key works</done>", nil)
	if g := f.pursue(session.Goal{Checks: []string{"x"}}); g.State != session.GoalBlocked || g.Reason != "credentials: I have no key" || len(f.ran) != 0 {
		t.Errorf("%+v after %q", g, f.ran)
	}
	if g := f.run("here is the key"); g.State != session.GoalCompleted {
		t.Errorf("after the answer of the person: %+v", g)
	}
}

func TestOpenWorkPreventsCompletion(t *testing.T) {
	open := []string{"todo: write the tests"}
	f := newField(t, "text <done>x</done>\n---\ncall look {\"to\":\"\"}\n---\ntext <done>y</done>", func(g *goal.Options, _ *agent.Options) {
		g.Open = func(context.Context) []string {
			all := open
			open = nil
			return all
		}
	})
	if g := f.pursue(session.Goal{Checks: []string{"x"}}); g.State != session.GoalCompleted || len(f.ran) != 1 || !strings.Contains(f.said()[1], "write the tests") {
		t.Errorf("%+v after %q", g, f.ran)
	}
}

func TestAssessment(t *testing.T) {
	f := newField(t, "text <done>x</done>\n---\ncall change {\"to\":\"b\"}\n---\ntext <done>y</done>", func(g *goal.Options, _ *agent.Options) {
		g.Assess = func(_ context.Context, _ session.Goal, answer string) (bool, string, error) {
			return answer == "<done>y</done>", "the docs are missing", nil
		}
	})
	if g := f.pursue(session.Goal{}); g.State != session.GoalCompleted || !strings.Contains(f.said()[1], "the docs are missing") || !slices.Contains(f.states(), session.GoalAssessing) {
		t.Errorf("%+v, %q", g, f.said())
	}
}

// Words are no progress, and neither is a call that was made before, or a change back to an earlier state.
func TestStalls(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		rounds int
	}{
		"words":      {"text a\n---\ntext b\n---\ntext c\n---\ntext d", 3},
		"calls":      {"call look {\"to\":\"1\"}\n---\ntext a\n---\ncall look {\"to\":\"1\"}\n---\ntext b\n---\ntext c\n---\ntext d", 4},
		"a new call": {"text a\n---\ntext b\n---\ncall look {\"to\":\"1\"}\n---\ntext c\n---\ntext d\n---\ntext e\n---\ntext f", 6},
		"back and forth": {"call change {\"to\":\"1\"}\n---\ntext a\n---\ncall change {\"to\":\"2\"}\n---\ntext b\n---\ncall change {\"to\":\"1\"}\n---\ntext c\n---\n" +
			"call change {\"to\":\"2\"}\n---\ntext d\n---\ncall change {\"to\":\"1\"}\n---\ntext e\n---\ncall change {\"to\":\"2\"}\n---\ntext f", 6},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, c.script, nil)
			f.pass = func(string) bool { return false }
			if g := f.pursue(session.Goal{Checks: []string{"x"}}); g.State != session.GoalBlocked || g.Stalls != 3 || g.Used.Rounds != c.rounds {
				t.Errorf("%+v", g)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	progress := func(n int) string {
		var turns []string
		for i := range n {
			turns = append(turns, fmt.Sprintf("call change {\"to\":\"%d\"}\nusage input=1000", i), "text a\nusage input=1000")
		}
		return strings.Join(turns, "\n---\n")
	}
	for name, c := range map[string]struct {
		limits session.GoalLimits
		reason string
	}{
		"rounds": {session.GoalLimits{Rounds: 2}, "2 rounds"},
		"time":   {session.GoalLimits{Time: 1}, "1ns"},
		"money":  {session.GoalLimits{Money: 0.003}, "$0.00"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, progress(9), func(_ *goal.Options, o *agent.Options) {
				m := llm.Model{Provider: "test", ID: "priced", Price: llm.Price{Input: 1}} // dollars per million tokens
				o.Client = llmtest.New(t, progress(9), llmtest.WithModel(m))
			})
			f.pass = func(string) bool { return false }
			g := f.pursue(session.Goal{Checks: []string{"x"}, Limits: c.limits})
			if g.State != session.GoalExhausted || !strings.Contains(g.Reason, c.reason) || g.Used.Rounds == 0 || g.Used.Rounds > 2 {
				t.Errorf("%+v", g)
			}
		})
	}
}

// A limit of the run itself ends the run and not the goal.
func TestALimitOfTheRun(t *testing.T) {
	f := newField(t, "call look {\"to\":\"1\"}\n---\ntext <done>x</done>", func(_ *goal.Options, o *agent.Options) { o.Limits.Turns = 1 })
	if g := f.pursue(session.Goal{}); g.State != session.GoalExhausted {
		t.Errorf("%+v", g)
	}
	if g := f.run("go on"); g.State != session.GoalCompleted {
		t.Errorf("%+v", g)
	}
}

func TestACheckThatCannotRun(t *testing.T) {
	f := newField(t, "text <done>x</done>", func(g *goal.Options, _ *agent.Options) {
		g.Run = func(context.Context, string) (goal.Outcome, error) { return goal.Outcome{}, errors.New("no shell") }
	})
	if g := f.pursue(session.Goal{Checks: []string{"x"}}); g.State != session.GoalBlocked || !strings.Contains(g.Reason, "no shell") {
		t.Errorf("%+v", g)
	}
}

// A person can drop or replace the goal while a check runs.
func TestAPersonChangesTheGoal(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *field) error
		want   session.GoalState
	}{
		"dropped":  {func(f *field) error { return f.goal.Drop(t.Context(), session.Speaker{Kind: session.SpeakerPerson}) }, session.GoalDropped},
		"replaced": {func(f *field) error { return f.goal.Set(t.Context(), session.Goal{Goal: "another"}) }, session.GoalCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "text a\n---\ntext <done>the other is done</done>", nil)
			f.pass = func(string) bool {
				if err := c.change(f); err != nil {
					t.Error(err)
				}
				return false
			}
			if g := f.pursue(session.Goal{Checks: []string{"x"}}); g.State != c.want {
				t.Errorf("%+v", g)
			}
		})
	}
}

// The goal outlives the process: another agent of the session continues it.
func TestRestart(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	start := func(id session.SessionID, script string) (*agent.Agent, *goal.Pursuit) {
		p := goal.New(goal.Options{Store: store, Run: func(context.Context, string) (goal.Outcome, error) { return goal.Outcome{Passed: true}, nil }})
		o := agent.Options{Client: llmtest.New(t, script), Hooks: []agent.Hook{p.Hook()}}
		a, err := agent.New(t.Context(), store, o)
		if id != "" {
			a.Close()
			a, err = agent.Open(t.Context(), store, id, o)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Bind(a)
		return a, p
	}
	a, p := start("", "error other \"down\"")
	if err := p.Set(t.Context(), session.Goal{Goal: "g", Checks: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Wait(a.Run(t.Context(), llm.UserText("go"))); err == nil {
		t.Fatal("the model answered")
	}
	a.Close()
	b, q := start(a.Session(), "text <done>y</done>")
	defer b.Close()
	if _, err := agent.Wait(b.Run(t.Context(), llm.UserText("continue"))); err != nil {
		t.Fatal(err)
	}
	if g, err := q.Goal(t.Context()); err != nil || g.State != session.GoalCompleted {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestErrors(t *testing.T) {
	f := newField(t, "text x", nil)
	if err := f.goal.Set(t.Context(), session.Goal{}); !errors.Is(err, goal.ErrEmpty) {
		t.Error(err)
	}
	if err := f.goal.Drop(t.Context(), session.Speaker{}); err != nil {
		t.Error(err)
	}
	if g := f.run("hi"); g.State != "" || len(f.said()) != 0 {
		t.Errorf("without a goal: %+v, %q", g, f.said())
	}
}
