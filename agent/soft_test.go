package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
)

// softly makes a bench whose turns cost a dollar each, with answers to its questions about limits. It ends with a text after n turns.
func softly(t *testing.T, n int, limits agent.Limits, answers ...string) (b *bench, asked *[]session.Asking) {
	t.Helper()
	asked = new([]session.Asking)
	var a *agent.Agent
	b = clientBench(t, hoursFree(n), func(o *agent.Options) {
		o.Limits = limits
		o.Ask = func(ctx context.Context, q session.Asking) ([]ask.Answer, error) {
			i := len(*asked)
			*asked = append(*asked, q)
			if i >= len(answers) || answers[i] == "" {
				return nil, errors.New("no one is there")
			}
			go func() {
				for _, open := range questions(a) {
					_, _ = a.Request(ctx, session.Answered{ID: open, Answers: []ask.Answer{{Choices: []string{answers[i]}}}})
				}
			}()
			return a.Ask(ctx, q)
		}
	})
	a = b.Agent
	return b, asked
}

// questions waits for an open question and returns its ID.
func questions(a *agent.Agent) (ids []string) {
	for range a.Follow(context.Background(), 0) {
		for _, q := range a.Requests().Questions {
			ids = append(ids, q.ID)
		}
		if len(ids) > 0 {
			return ids
		}
	}
	return nil
}

// hoursFree is a client that looks at another file in each of n turns. Each costs a dollar.
func hoursFree(n int) *llmtest.Client {
	turn := 0
	return llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
		m := llm.AssistantText("Done.")
		if turn++; turn <= n {
			m.Content = append(m.Content, llm.ToolCall{Name: "look", Arguments: `{"path":"/a` + string(rune('a'+turn)) + `"}`})
		}
		m.Usage = llm.Usage{Input: 1, Output: 1}
		return m, nil
	}, llmtest.WithModel(priced))
}

func TestASoftLimitAsks(t *testing.T) {
	limits := agent.Limits{Cost: 4, Soft: 0.5}
	for _, test := range []struct {
		name    string
		limits  agent.Limits
		answers []string
		asked   int
		reason  session.Reason
		turns   int
		changed []session.LimitsChanged
	}{
		{"continue", limits, []string{"Continue"}, 1, session.ReasonLimit, 4, nil},
		{"no answer", limits, []string{""}, 1, session.ReasonLimit, 4, nil},
		{"words that are no amount", limits, []string{"hm"}, 1, session.ReasonLimit, 4, nil},
		{"do not ask again", agent.Limits{Cost: 4, SessionCost: 5, Soft: 0.5}, []string{"Continue and do not ask again"}, 1, session.ReasonLimit, 4, []session.LimitsChanged{{Soft: -1}}},
		{"raise", limits, []string{"Raise the limit to $8.00", "Continue"}, 2, session.ReasonDone, 7, []session.LimitsChanged{{Cost: 8}}},
		{"another limit", limits, []string{"$20"}, 1, session.ReasonDone, 7, []session.LimitsChanged{{Cost: 20}}},
		{"a lower limit", limits, []string{"1.5"}, 1, session.ReasonLimit, 2, []session.LimitsChanged{{Cost: 1.5}}},
		{"an infinite limit", limits, []string{"inf"}, 1, session.ReasonLimit, 4, nil},
		{"a part of a turn", agent.Limits{Turns: 4, Soft: 0.5}, []string{"2.5"}, 2, session.ReasonLimit, 3, []session.LimitsChanged{{Turns: 3}}},
		{"stop", limits, []string{"Stop"}, 1, session.ReasonLimit, 2, nil},
		{"the session", agent.Limits{SessionCost: 4, Soft: 0.5}, []string{"Raise the limit to $8.00", "Stop"}, 2, session.ReasonLimit, 4, []session.LimitsChanged{{SessionCost: 8}}},
		{"turns", agent.Limits{Turns: 4, Soft: 0.5}, []string{"Raise the limit to 8 turns", "Continue"}, 2, session.ReasonDone, 7, []session.LimitsChanged{{Turns: 8}}},
		{"tokens", agent.Limits{Tokens: 8, Soft: 0.5}, []string{"Raise the limit to 16 tokens", "Continue"}, 2, session.ReasonDone, 7, []session.LimitsChanged{{Tokens: 16}}},
		{"no soft limit", agent.Limits{Cost: 4}, nil, 0, session.ReasonLimit, 4, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, asked := softly(t, 6, test.limits, test.answers...)
				events := b.run("look around")
				end := ending(t, events)
				if end.Reason != test.reason || end.Turns != test.turns || len(*asked) != test.asked {
					t.Errorf("asked %d times, then %s %q after %d turns; want %d, %s, %d\n%s",
						len(*asked), end.Reason, end.Message, end.Turns, test.asked, test.reason, test.turns, trace(events))
				}
				changed := bodies[session.LimitsChanged](b.journal())
				if len(changed) != len(test.changed) || len(changed) > 0 && changed[0] != test.changed[0] {
					t.Errorf("the journal has %+v, want %+v", changed, test.changed)
				}
				if end.Reason == session.ReasonLimit && (end.Limit == "" || end.Max == 0 || end.Spent == 0) {
					t.Errorf("the end has no figures: %+v", end)
				}
				checkJournal(t, b)
			})
		})
	}
}

// A raise holds when the session is resumed, and the options of a process can override it. The run after the limit continues the history.
func TestARaiseOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := softly(t, 9, agent.Limits{Cost: 2})
		b.run("look around")
		limits := b.Limits()
		limits.Cost, limits.SessionCost = 3, 6
		if err := b.Set(t.Context(), agent.Change{Limits: &limits, Keep: true}); err != nil {
			t.Fatal(err)
		}
		b.reopen(func(o *agent.Options) { o.Limits = agent.Limits{Cost: 2} })
		if got := b.Limits(); got.Cost != 3 || got.SessionCost != 6 {
			t.Errorf("the limits are %+v", got)
		}
		events := collect(t, b.Continue(t.Context(), agent.Continuation{}))
		if end := ending(t, events); end.Turns != 3 || end.Limit != "cost" || end.Spent != 3 || end.Max != 3 {
			t.Errorf("the end is %+v", end)
		}
		spent := bodies[live.Spending](events)
		if last := spent[len(spent)-1]; len(spent) != 3 || last.Run.Cost != 3 || last.Run.MaxCost != 3 || last.Session.Cost != 5 || last.Session.MaxCost != 6 {
			t.Errorf("the spending is %+v", spent)
		}
		var last session.Event
		for e := range b.Path().Backward(t.Context()) {
			last = e
		}
		if heads := bodies[session.Head](b.journal()); len(heads) != 0 || last.Seq != 1 {
			t.Errorf("the run did not continue on its branch: %d heads, the first entry is %d", len(heads), last.Seq)
		}
		b.reopen(func(o *agent.Options) { o.Override = agent.Limits{SessionCost: 5.5} })
		if got := b.Limits(); got.Cost != 3 || got.SessionCost != 5.5 {
			t.Errorf("the limits are %+v", got)
		}
		endsWith(t, collect(t, b.Continue(t.Context(), agent.Continuation{})), session.ReasonLimit, "$5.50 for a session ($6.00 spent)")
	})
}

// A question about a limit whose process died is withdrawn: its run is over.
func TestAQuestionAboutALimitEndsWithItsProcess(t *testing.T) {
	var b *bench
	b = clientBench(t, hoursFree(3), func(o *agent.Options) {
		o.Limits = agent.Limits{Cost: 2, Soft: 0.5}
		o.Ask = func(ctx context.Context, q session.Asking) ([]ask.Answer, error) { return b.Ask(ctx, q) }
	})
	if _, err := b.Start(t.Context(), agent.Input{Messages: []llm.Message{llm.UserText("go")}}); err != nil {
		t.Fatal(err)
	}
	openQuestion(t, b)
	next := b.dies(func(*agent.Options) {})
	if open := next.Requests().Questions; len(open) != 0 {
		t.Errorf("open questions: %+v", open)
	}
	b.Abort()
}
