package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/compact"
)

// provider stands in for one that bills every request that it has answered, in whole or in part. By chance it turns requests away and breaks
// off answers. The parent delegates, its children work without end.
type provider struct {
	mu       sync.Mutex
	random   *rand.Rand
	requests int
	kinds    map[string]int // requests by who makes them
	billed   float64
	dearest  float64
}

func (*provider) Model() llm.Model {
	return llm.Model{Provider: "test", ID: "dear", Context: 3000, MaxOutput: 300, Price: llm.Price{Input: 1, Output: 20}}
}

func (p *provider) chance(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(n)
}

func (p *provider) bill(u llm.Usage, kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cost := p.Model().Price.Cost(u)
	p.requests++
	p.kinds[kind]++
	p.billed += cost
	p.dearest = max(p.dearest, cost)
}

func (p *provider) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		<-time.After(time.Duration(1+p.chance(3000)) * time.Millisecond) // the time of a bubble
		if p.chance(8) == 0 {
			yield(nil, &llm.Error{Kind: llm.KindOverloaded, Status: 529})
			return
		}
		kind, m := p.answer(req)
		words := m.Text()
		u := llm.Usage{Input: int64(size(req) / 3), Output: int64(len(words)/3 + 30)}
		defer func() { p.bill(u, kind) }()
		if !yield(llm.TextDelta{Text: words}, nil) {
			return
		}
		<-time.After(time.Second)
		if p.chance(6) == 0 {
			u.Output -= 30
			yield(nil, &llm.Error{Kind: llm.KindNetwork})
			return
		}
		m.Usage = u
		yield(llm.Done{Message: m}, nil)
	}
}

func size(req *llm.Request) int {
	n := len(req.System)
	for _, m := range req.Messages {
		n += len(m.Text())
	}
	return n
}

// answer is what the model says, and to whom.
func (p *provider) answer(req *llm.Request) (kind string, _ llm.Message) {
	last := req.Messages[len(req.Messages)-1]
	text := strings.Repeat("word ", 10+p.chance(150))
	switch {
	case last.Role == llm.RoleUser && strings.Contains(last.Text(), "## Next step"):
		var summary strings.Builder
		for _, s := range window.Sections() {
			fmt.Fprintf(&summary, "## %s\nx\n\n", s)
		}
		return "summary", llm.AssistantText(summary.String())
	case req.System == "title":
		return "title", llm.AssistantText("A title")
	case req.System == "parent" && last.Role == llm.RoleUser:
		m := llm.AssistantText("I delegate.")
		for i := range 5 {
			m.Content = append(m.Content, llm.ToolCall{ID: fmt.Sprint(i), Name: "delegate", Arguments: "{}"})
		}
		return "parent", m
	case req.System == "parent":
		return "parent", llm.AssistantText("They have worked.")
	}
	m := llm.AssistantText(text)
	m.Content = append(m.Content, llm.ToolCall{ID: fmt.Sprint(len(req.Messages)), Name: "look", Arguments: "{}"})
	return "child", m
}

// TestChildrenShareTheBudget holds over random runs of a parent with five parallel children: requests and those sent again, summaries and
// titles, of all of them together, exceed the limit of the parent by at most one request.
func TestChildrenShareTheBudget(t *testing.T) {
	kinds := make(map[string]int)
	for seed := range uint64(25) {
		synctest.Test(t, func(t *testing.T) {
			p := &provider{random: rand.New(rand.NewPCG(seed, 2)), kinds: kinds}
			client := chain.Retry(p, chain.RetryPolicy{Retries: 3})
			store := memory.New()
			titled := func(ctx context.Context, _ int, _ live.TurnEnded) { // concurrent with the turn, like a request for a title
				_, _ = llm.Collect(ctx, budget.Of(ctx).Client(p), &llm.Request{System: "title", Messages: []llm.Message{llm.UserText("?")}})
			}
			options := func(system string, tools ...tool.Tool) agent.Options {
				return agent.Options{
					Client: client, System: system, Tools: tools, Gate: agent.AllowAll(), Hooks: []agent.Hook{{Name: "titles", AfterTurn: titled}},
					Window: window.New(window.Options{Summarizer: drawing{p}, Cooldown: time.Second}),
				}
			}
			var looks atomic.Int64
			look := tool.New("look", "Look.", tool.Nothing, func(context.Context, struct{}, tool.Report) (tool.Result, error) {
				n := looks.Add(1) // each result is new: equal ones would end the run for repetition
				return tool.Result{Content: llm.Content{llm.Text{Text: fmt.Sprint(n, strings.Repeat(" a line of a file\n", 40))}}}, nil
			})
			var ends []session.RunEnded
			var mu sync.Mutex
			delegate := tool.New("delegate", "Delegate.", tool.Nothing, func(ctx context.Context, _ struct{}, _ tool.Report) (tool.Result, error) {
				o := options("child", look)
				o.SubAgent, o.Budget = true, budget.Of(ctx)
				child, err := agent.New(ctx, store, o)
				if err != nil {
					return tool.Result{}, err
				}
				defer child.Close()
				done, err := agent.Wait(child.Run(ctx, llm.UserText("Work.")))
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, done.Ended)
				return tool.Result{Content: llm.Content{llm.Text{Text: "It ended."}}}, err
			})
			o := options("parent", delegate)
			o.Limits = agent.Limits{Cost: 0.5, SessionCost: 0.6, Tokens: agent.Unlimited, Turns: agent.Unlimited, Time: agent.Unlimited}
			parent, err := agent.New(t.Context(), store, o)
			if err != nil {
				t.Fatal(err)
			}
			defer parent.Close()
			done, err := agent.Wait(parent.Run(t.Context(), llm.UserText("Let others work.")))
			if _, failed := errors.AsType[*llm.Error](err); err != nil && !failed {
				t.Fatal(err)
			}
			synctest.Wait() // a summary in the background may still be billed
			p.mu.Lock()
			billed, dearest := p.billed, p.dearest
			p.mu.Unlock()
			if billed > o.Limits.Cost+dearest+1e-9 {
				t.Errorf("seed %d: $%.3f billed under a limit of $%.2f; the dearest request $%.3f", seed, billed, o.Limits.Cost, dearest)
			}
			for _, end := range append(ends, done.Ended) {
				if end.Reason == session.ReasonDone || end.Reason == session.ReasonLimit && end.Limit != "budget" && end.Limit != "cost" {
					t.Errorf("seed %d: a run ended with %s %s: %s", seed, end.Reason, end.Limit, end.Message)
				}
			}
		})
	}
	for _, kind := range []string{"parent", "child", "summary", "title"} {
		if kinds[kind] < 10 {
			t.Errorf("only %d requests of kind %s: the test shows nothing", kinds[kind], kind)
		}
	}
}

// drawing lets a model write summaries by the budget of the run.
type drawing struct{ client llm.Client }

func (d drawing) Summarize(ctx context.Context, t window.Task) (session.Summarized, error) {
	return compact.Model{Client: budget.Of(ctx).Client(d.client)}.Summarize(ctx, t)
}

// A model without a price under a limit of money is refused before it is asked, or reported, as people choose.
func TestAModelWithoutAPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "text Never asked.", func(o *agent.Options) { o.Limits.Cost = 1 })
		events, err := drain(b.Run(t.Context(), text("hi")))
		if e, ok := errors.AsType[*budget.Error](err); !ok || e.Code() != "budget.unpriced" || len(b.client.Requests()) != 0 {
			t.Errorf("%v after %d requests", err, len(b.client.Requests()))
		}
		endsWith(t, events, session.ReasonError, "price")
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "call look {\"path\":\"/1\"}\n---\ntext Hello.", func(o *agent.Options) { o.Limits.Cost, o.Limits.Unpriced = 1, budget.Notice })
		events := b.run("hi")
		endsWith(t, events, session.ReasonDone, "")
		if n := len(bodies[live.Notice](events)); n != 1 {
			t.Errorf("%d notices", n)
		}
	})
}
