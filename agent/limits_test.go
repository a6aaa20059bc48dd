package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
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

// hours is a client that looks at another file in each of n turns of an hour, and reads a hundred thousand tokens for each, most of them cached.
func hours(n int, model llm.Model) *llmtest.Client {
	return llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		time.Sleep(time.Hour)
		turn := len(req.Messages) / 2
		m := llm.AssistantText("Done.")
		if turn < n {
			m.Content = append(m.Content, llm.ToolCall{Name: "look", Arguments: fmt.Sprintf(`{"path":"/a%d"}`, turn)})
		}
		m.Usage = llm.Usage{Input: 5000, CacheRead: 95_000, Output: 1000}
		return m, nil
	}, llmtest.WithModel(model))
}

// No limit of turns, tokens or time ends a run that sets none. Money does where the price is known.
func TestLimitDefaults(t *testing.T) {
	cheap := llm.Model{Provider: "test", ID: "cheap", Price: llm.Price{Input: 1, CacheRead: 0.1, Output: 5}}
	dear := llm.Model{Provider: "test", ID: "dear", Price: llm.Price{Input: 100, CacheRead: 10, Output: 500}}
	for _, test := range []struct {
		name   string
		model  llm.Model
		limits agent.Limits
		reason session.Reason
		limit  string
		turns  int
	}{
		{"a day of work", cheap, agent.Limits{}, session.ReasonDone, "", 61},
		{"an unknown price", llm.Model{Provider: "test", ID: "unknown"}, agent.Limits{}, session.ReasonDone, "", 61},
		{"a dear model", dear, agent.Limits{}, session.ReasonLimit, "cost", 11},
		{"a dear model, switched off", dear, agent.Limits{Cost: agent.Unlimited}, session.ReasonDone, "", 61},
		{"a dear model, another limit", dear, agent.Limits{Cost: 4}, session.ReasonLimit, "cost", 3},
		{"turns", cheap, agent.Limits{Turns: 50}, session.ReasonLimit, "turns", 50},
		{"time", cheap, agent.Limits{Time: 90 * time.Minute}, session.ReasonLimit, "time", 2},
		{"cached tokens count a tenth", cheap, agent.Limits{Tokens: 155_000}, session.ReasonLimit, "tokens", 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := clientBench(t, hours(60, test.model), func(o *agent.Options) { o.Limits = test.limits })
				end := ending(t, b.run("go"))
				if end.Reason != test.reason || end.Limit != test.limit || end.Turns != test.turns {
					t.Errorf("the run ended after %d turns as %s, limit %q: %s", end.Turns, end.Reason, end.Limit, end.Message)
				}
			})
		})
	}
}

// A model that goes in circles learns of it, and ends the run if it does not stop. Waiting and new results are no circles.
func TestRepetition(t *testing.T) {
	turns := func(calls ...string) string { return "call " + strings.Join(calls, "\n---\ncall ") + "\n---\n" }
	again := func(n int, calls ...string) string { return strings.Repeat(turns(calls...), n) }
	const a, b, c = `look {"path":"/a"}`, `look {"path":"/b"}`, `look {"path":"/c"}`
	for _, test := range []struct {
		name, script string
		hints, turns int
		limit        string
	}{
		{"the same call", again(20, a), 1, 13, "repetition"},
		{"three calls in turn", again(10, a, b, c), 1, 15, "repetition"},
		{"now and then", again(4, a, b) + again(4, c, a), 2, 17, ""},
		{"it stops", again(6, a) + turns(b), 1, 8, ""},
		{"waiting", again(20, `nap {"for":"20s"}`), 0, 21, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bench := newBench(t, test.script+"text Done.", nil)
				events := bench.run("go")
				end, hints := ending(t, events), 0
				for _, m := range bodies[session.Message](events) {
					if m.Source == session.FromLoop {
						hints++
					}
				}
				if end.Limit != test.limit || end.Turns != test.turns || hints != test.hints {
					t.Errorf("limit %q after %d turns, with %d hints: %s", end.Limit, end.Turns, hints, end.Message)
				}
			})
		})
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
	endsWith(t, b.run("go"), session.ReasonLimit, "the limit of 1 turn")
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
