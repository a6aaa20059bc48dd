package agent_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
)

// priced is a model that takes a dollar for each token that it writes.
var priced = llm.Model{Provider: "test", ID: "dear", Price: llm.Price{Output: 1e6}}

// endless is a script of turns that each look at something and cost two tokens: one read, one written.
const endless = `
	call look {"path":"/1"}
	usage input=1 output=1
	---
	call look {"path":"/2"}
	usage input=1 output=1
	---
	call look {"path":"/3"}
	usage input=1 output=1
	---
	call look {"path":"/4"}
	usage input=1 output=1`

func TestLimits(t *testing.T) {
	tests := []struct {
		name   string
		limits agent.Limits
		limit  string
		turns  int
		says   string
	}{
		{"turns", agent.Limits{Turns: 2}, "turns", 2, "the limit of 2 turns"},
		{"tokens", agent.Limits{Tokens: 5}, "tokens", 3, "the limit of 5 tokens (6 used)"},
		{"tokens, exactly", agent.Limits{Tokens: 4}, "tokens", 2, "the limit of 4 tokens (4 used)"},
		{"cost of a run", agent.Limits{Cost: 1.5}, "cost", 2, "$1.50 for a run ($2.00 spent)"},
		{"cost of a session", agent.Limits{SessionCost: 2.5}, "session_cost", 3, "$2.50 for a session ($3.00 spent)"},
		{"cost of a day", agent.Limits{DayCost: 3}, "day_cost", 3, "$3.00 for a day ($3.00 spent)"},
		{"the first that is reached", agent.Limits{Turns: 3, Tokens: 2, Cost: 2}, "tokens", 1, "tokens"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := clientBench(t, llmtest.New(t, endless, llmtest.WithModel(priced)), func(o *agent.Options) {
					o.Limits = test.limits
					hook(o, agent.Hook{BeforeTurn: func(_ context.Context, turn int) error {
						if turn > test.turns {
							t.Errorf("the hook is asked about turn %d, which cannot be", turn)
						}
						return nil
					}})
				})
				events := b.run("look around")
				endsWith(t, events, session.ReasonLimit, test.says)
				end := ending(t, events)
				if end.Limit != test.limit || end.Turns != test.turns || len(b.client.Requests()) != test.turns {
					t.Errorf("limit %q after %d turns and %d requests, want %q after %d",
						end.Limit, end.Turns, len(b.client.Requests()), test.limit, test.turns)
				}
				if want := int64(test.turns); end.Usage.Input != want || end.Usage.Cost != float64(want) {
					t.Errorf("usage = %+v, want that of %d turns", end.Usage, test.turns)
				}
				checkJournal(t, b)
			})
		})
	}
}

// A run has the default limits when nothing is said, and none where a limit is switched off.
func TestLimitDefaults(t *testing.T) {
	b := newBench(t, "text Hello.", func(o *agent.Options) { o.Limits.Tokens = agent.Unlimited })
	config := bodies[session.RunStarted](b.run("hi"))[0].Config
	if config.MaxTurns != 50 || config.MaxTokens != agent.Unlimited || time.Duration(config.MaxTime) != 10*time.Minute {
		t.Errorf("limits in the journal: %+v", config)
	}

	client := llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		if len(req.Messages) > 2*60 {
			return llm.AssistantText("enough"), nil
		}
		return llm.Message{Content: llm.Content{llm.ToolCall{Name: "look", Arguments: `{"path":"/a"}`}}}, nil
	})
	b = clientBench(t, client, nil)
	if end := ending(t, b.run("go")); end.Turns != 50 || end.Limit != "turns" {
		t.Errorf("without a word about turns the run ends after %d, limit %q", end.Turns, end.Limit)
	}
	b = clientBench(t, client, func(o *agent.Options) { o.Limits.Turns = agent.Unlimited })
	if end := ending(t, b.run("go")); end.Turns != 61 || end.Reason != session.ReasonDone {
		t.Errorf("without a limit the run ends after %d turns as %s", end.Turns, end.Reason)
	}
}

// The limits of money look at what was spent before too, also in other sessions and on branches that were left.
func TestCostOfTheSessionAndTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		open := func(limits agent.Limits) *agent.Agent {
			a, err := agent.New(t.Context(), store, agent.Options{
				Client: llmtest.New(t, "text One.\nusage output=1\n---\ntext Two.\nusage output=1", llmtest.WithModel(priced)),
				Limits: limits,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close() })
			return a
		}
		a := open(agent.Limits{SessionCost: 2})
		collect(t, a.Run(t.Context(), text("one")))
		collect(t, a.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesRerun}))
		endsWith(t, collect(t, a.Run(t.Context(), text("three"))), session.ReasonLimit, "for a session ($2.00 spent)")

		other := open(agent.Limits{DayCost: 2})
		endsWith(t, collect(t, other.Run(t.Context(), text("one"))), session.ReasonLimit, "for a day ($2.00 spent)")
		time.Sleep(24 * time.Hour)
		endsWith(t, collect(t, other.Run(t.Context(), text("one"))), session.ReasonDone, "")
	})
}

// The time of a run is over in the middle of whatever hangs.
func TestTimeLimit(t *testing.T) {
	tests := []struct{ name, script, journal string }{
		{"a stream that stalls", "text Well\nhang", `
			user "go"
			assistant "Well" aborted`},
		{"a request without an answer", "hang", `
			user "go"`},
		{"a tool that hangs", "call nap\ncall command {\"path\":\"x\"}", `
			user "go"
			assistant call nap call command
			tool nap cancelled "This call was stopped: the time limit of the run was reached."
			tool command ok "did x"`},
		{"a tool before others", "call command {\"path\":\"x\"}\ncall nap {\"for\":\"90s\"}\ncall change {\"path\":\"/a\"}", `
			user "go"
			assistant call command call nap call change
			tool command ok "did x"
			tool nap cancelled "This call was stopped: the time limit of the run was reached."
			tool change ok "changed /a"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, test.script, func(o *agent.Options) { o.Limits.Time = time.Minute })
				start := time.Now()
				events := b.run("go")
				if took := time.Since(start); took != time.Minute {
					t.Errorf("the run took %s", took)
				}
				endsWith(t, events, session.ReasonLimit, "the limit of 1m0s")
				if end := ending(t, events); end.Limit != "time" || time.Duration(end.Elapsed) != time.Minute {
					t.Errorf("limit %q after %v", end.Limit, time.Duration(end.Elapsed))
				}
				same(t, b.outcomes(), test.journal)
				checkJournal(t, b)
			})
		})
	}
}

// A limit is not the end: the run can be continued, and the next has its own turns.
func TestContinueAfterLimit(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext Done.", func(o *agent.Options) { o.Limits.Turns = 1 })
	endsWith(t, b.run("go"), session.ReasonLimit, "the limit of 1 turn;")
	endsWith(t, collect(t, b.Continue(t.Context(), agent.Continuation{})), session.ReasonDone, "")
}

// An answer that needs no further turn is no limit, also when it takes the last one.
func TestLimitThatIsJustNotReached(t *testing.T) {
	b := newBench(t, "text Done.", func(o *agent.Options) { o.Limits.Turns = 1 })
	endsWith(t, b.run("go"), session.ReasonDone, "")
}

// If the store cannot report the costs, the run ends: without the figure it may not spend.
func TestCostThatTheStoreCannotReport(t *testing.T) {
	for _, limits := range []agent.Limits{{SessionCost: 1}, {DayCost: 1}} {
		b := newBench(t, "text never asked", func(o *agent.Options) { o.Limits = limits })
		blind := &blindStore{Store: b.store}
		a, err := agent.New(t.Context(), blind, agent.Options{Client: b.client, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		events, err := drain(a.Run(t.Context(), text("hi")))
		if !errors.Is(err, errBlind) {
			t.Errorf("error = %v", err)
		}
		endsWith(t, events, session.ReasonError, errBlind.Error())
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

var errBlind = errors.New("the sums cannot be read")

// blindStore is a store that cannot report costs.
type blindStore struct{ index.Store }

func (*blindStore) List(context.Context, index.Query) iter.Seq2[index.Summary, error] {
	return func(yield func(index.Summary, error) bool) { yield(index.Summary{}, errBlind) }
}

func (*blindStore) Spent(context.Context, time.Time) (llm.Usage, error) { return llm.Usage{}, errBlind }

// Without a limit of time a run may take as long as it takes.
func TestNoTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "call nap {\"for\":\"48h\"}\n---\ntext Done.", func(o *agent.Options) { o.Limits.Time = agent.Unlimited })
		endsWith(t, b.run("go"), session.ReasonDone, "")
	})
}
