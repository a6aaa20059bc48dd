package tui

import (
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/tool"
)

// spending is a stage on which each turn of the model costs a dollar. After four turns the model is done.
func spending(t *testing.T, l agent.Limits) *stage {
	t.Helper()
	t.Parallel()
	const script = `
		call look {"path":"/1"}
		usage input=1 output=1
		---
		call look {"path":"/2"}
		usage input=1 output=1
		---
		call look {"path":"/3"}
		usage input=1 output=1
		---
		text All seen.
		usage input=1 output=1`
	model := llm.Model{Provider: "test", ID: "dear", Price: llm.Price{Output: 1e6}}
	s := play(t, &theater{
		client: llmtest.New(t, script, llmtest.WithModel(model)), tools: []tool.Tool{look()}, judge: policy(t), src: t.TempDir(), limits: l,
	}, 120, 30)
	s.shows("test/dear")
	s.types("look")
	s.press("enter")
	return s
}

func TestASoftLimitIsAQuestion(t *testing.T) {
	s := spending(t, agent.Limits{Cost: 2.5, Soft: 0.4})
	s.shows("This run has used $1.00 of $2.50")
	s.shows("Raise the limit to $5.00")
	s.shows("$1.00 of $2.50")       // in the status line, too
	s.shows("› Continue (default)") // it takes keys now
	s.press("down", "down", "enter")
	s.shows("This run has used $2.00 of $5.00")
	s.shows("› Continue (default)")
	s.press("down", "enter")
	s.shows("All seen.")
	s.idle()
}

func TestALimitShowsTheWayOn(t *testing.T) {
	s := spending(t, agent.Limits{Cost: 1})
	s.shows("limit of $1.00 for a run reached; /budget 2 or enter continues with a new run")
	s.press("enter")
	s.until("the second run", func(string) bool { return s.app.pane.state.Usage.Cost == 2 && !s.app.pane.busy() })
	s.shows("limit of $1.00 for a run reached")
	for _, wrong := range []string{"inf", "1e300", "-1", "nan", "0"} {
		s.gives("/budget " + wrong)
		s.shows("write an amount in dollars")
	}
	s.gives("/budget 3")
	s.shows("All seen.")
	s.idle()
	s.hides("reached; /budget")
	s.gives("/budget")
	s.shows("of $3.00 · session: $4.00, no limit")
}

func TestALimitOfTheSessionNeedsMore(t *testing.T) {
	s := spending(t, agent.Limits{SessionCost: 2})
	s.shows("limit of $2.00 for the session reached; /budget session 4 continues with a new run")
	s.shows("$2.00 of $2.00")
	s.gives("/budget session 8")
	s.shows("All seen.")
}

func TestReachedSaysWhatHelps(t *testing.T) {
	for r, want := range map[conversation.Reached]string{
		{}:                                        "",
		{Limit: "turns", Spent: 9, Max: 9}:        "limit of 9 turns reached; enter continues with a new run",
		{Limit: "time", Spent: 90, Max: 90}:       "limit of 1m30s reached; enter continues with a new run",
		{Limit: "day_cost", Spent: 9, Max: 8}:     "limit of $8.00 for a day reached; raise limits.day_cost in tenon.json",
		{Limit: "repetition"}:                     "a limit reached; enter continues with a new run",
		{Limit: "cost", Spent: 0.51, Max: 0.5}:    "limit of $0.50 for a run reached; /budget 1 or enter continues with a new run",
		{Limit: "cost", Spent: 0.02, Max: 0.0001}: "limit of $0.0001 for a run reached; /budget 0.0002 or enter continues with a new run",
		{Limit: "tokens", Spent: 1200, Max: 1000}: "limit of 1000 tokens reached; enter continues with a new run",
	} {
		if got := reached(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// The default limit is not in the status line until half of it is spent.
func TestTheNearestLimit(t *testing.T) {
	budget := func(name string, money, spent float64) conversation.Budget {
		b := conversation.Budget{Name: name, Money: money}
		b.Spent.Cost = spent
		return b
	}
	for _, test := range []struct {
		budgets []conversation.Budget
		want    string
	}{
		{[]conversation.Budget{budget("run", agent.DefaultCost, 2), budget("session", 0, 4)}, "$4.00"},
		{[]conversation.Budget{budget("run", agent.DefaultCost, 12), budget("session", 0, 4)}, "$12.00 of $20.00"},
		{[]conversation.Budget{budget("run", 4, 1), budget("session", 10, 9)}, "$9.00 of $10.00"},
		{[]conversation.Budget{budget("run", 2, 0.41), budget("session", 10, 1), budget("day", 1, 0.9)}, "$0.41 of $2.00"},
	} {
		if got, _ := spentText(test.budgets, llm.Usage{Cost: 4}); got != test.want {
			t.Errorf("%+v: %q, want %q", test.budgets, got, test.want)
		}
	}
}
