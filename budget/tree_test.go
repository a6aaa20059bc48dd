package budget_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
)

// branch is a node of a random tree, with the bills of its own requests.
type branch struct {
	*budget.Budget
	children []*branch

	mu      sync.Mutex
	bills   []llm.Usage
	crossed map[budget.Limit]int
}

// all returns the bills of the node and of all nodes below it.
func (b *branch) all() []llm.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.bills
	for _, c := range b.children {
		out = append(out[:len(out):len(out)], c.all()...)
	}
	return out
}

// forest makes random trees and the providers of their nodes.
type forest struct {
	mu     sync.Mutex
	random *rand.Rand
	nodes  []*branch
}

func (f *forest) chance(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.IntN(n)
}

// limits returns random limits: of money, of tokens, of both or none.
func (f *forest) limits(b *branch) budget.Limits {
	l := budget.Limits{Soft: float64(3+f.chance(7)) / 10}
	if f.chance(3) > 0 {
		l.Money = 0.2 + float64(f.chance(300))/100
	}
	if f.chance(3) == 0 {
		l.Tokens = int64(50 + f.chance(800))
	}
	l.Crossed = func(e *budget.Error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.crossed[e.Limit]++; e.Spent < l.Soft*e.Max || e.Budget != b.Budget {
			b.crossed[e.Limit] = 1000
		}
	}
	return l
}

func (f *forest) grow(parent *branch, depth int) *branch {
	b := &branch{crossed: make(map[budget.Limit]int)}
	f.nodes = append(f.nodes, b)
	limits := f.limits(b)
	switch {
	case parent == nil:
		limits.Money = 0.5 + float64(f.chance(400))/100 // so that the work ends
		b.Budget = budget.New("root", limits)
	default:
		b.Budget = parent.Child(fmt.Sprint("node", len(f.nodes)), limits)
	}
	for range f.chance(4) {
		if depth < 3 && len(f.nodes) < 12 {
			b.children = append(b.children, f.grow(b, depth+1))
		}
	}
	return b
}

// provider returns a provider with a random price that bills to a node what it has answered, in whole or in part.
func (f *forest) provider(b *branch) llm.Client {
	model := llm.Model{Provider: "test", ID: "any", MaxOutput: 40, Price: llm.Price{Input: 1, Output: float64(1000 * (1 + f.chance(12)))}}
	return &server{model: model, answer: func(_ int, yield func(llm.Event, error) bool) llm.Usage {
		<-time.After(time.Duration(f.chance(2000)) * time.Millisecond) // the time of a bubble
		if f.chance(7) == 0 {
			yield(nil, &llm.Error{Kind: llm.KindOverloaded, Status: 529})
			return llm.Usage{}
		}
		u := llm.Usage{Input: 3, Output: int64(1 + f.chance(39))}
		u.Cost = model.Price.Cost(u)
		bill := func() llm.Usage {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.bills = append(b.bills, u)
			return u
		}
		text := strings.Repeat("abc", int(u.Output))
		if !yield(llm.TextDelta{Text: text}, nil) {
			return bill()
		}
		<-time.After(time.Duration(f.chance(500)) * time.Millisecond)
		bill()
		if f.chance(5) == 0 {
			yield(nil, &llm.Error{Kind: llm.KindNetwork})
			return u
		}
		m := llm.AssistantText(text)
		m.Usage = u
		yield(llm.Done{Message: m}, nil)
		return u
	}}
}

// work sends requests of a node until a limit refuses one: one after the other as a loop does, and by chance several at the same time, as
// judges, titles and summaries are. Some are sent again, and some lose their consumer.
func (f *forest) work(ctx context.Context, b *branch) {
	var beside sync.WaitGroup
	defer beside.Wait()
	clients := []llm.Client{f.provider(b), chain.Retry(f.provider(b), chain.RetryPolicy{Retries: 2})}
	for range 80 {
		client := b.Client(clients[f.chance(2)])
		for range f.chance(3) {
			beside.Go(func() { _ = ask(ctx, client) })
		}
		one, cancel := ctx, func() {}
		if f.chance(8) == 0 {
			one, cancel = context.WithTimeout(ctx, time.Duration(1+f.chance(2500))*time.Millisecond)
		}
		err := ask(one, client)
		cancel()
		if limitOf(err) != "" {
			return
		}
	}
}

// TestNoTreeExceedsALimit is the promise of the package for every node of random trees: the bills of the node and of all nodes below it
// exceed its limit by at most one request. Each soft limit is reported once.
func TestNoTreeExceedsALimit(t *testing.T) {
	reached, reported, sent := 0, 0, 0
	for seed := range uint64(250) {
		synctest.Test(t, func(t *testing.T) {
			f := &forest{random: rand.New(rand.NewPCG(seed, 15))}
			f.grow(nil, 0)
			var wg sync.WaitGroup
			for _, b := range f.nodes {
				wg.Go(func() { f.work(t.Context(), b) })
			}
			wg.Wait()
			for _, b := range f.nodes {
				var cost, dearest float64
				var used, largest int64
				bills := b.all()
				for _, u := range bills {
					cost, dearest = cost+u.Cost, max(dearest, u.Cost)
					used, largest = used+budget.Weight(u), max(largest, budget.Weight(u))
				}
				l := b.Limits()
				if l.Money > 0 && cost > l.Money+dearest+1e-9 {
					t.Errorf("seed %d: %s was billed $%.2f under a limit of $%.2f, the dearest request $%.2f", seed, b.Name(), cost, l.Money, dearest)
				}
				if l.Tokens > 0 && used > l.Tokens+largest {
					t.Errorf("seed %d: %s was billed %d tokens under a limit of %d, the largest request %d", seed, b.Name(), used, l.Tokens, largest)
				}
				for limit, n := range b.crossed {
					if reported++; n != 1 {
						t.Errorf("seed %d: %s reported the soft limit of %s %d times (1000: with other figures)", seed, b.Name(), limit, n)
					}
				}
				if spent := b.Spent(); l.Money > 0 && spent.Cost >= l.Money || l.Tokens > 0 && budget.Weight(spent.Usage) >= l.Tokens {
					if reached++; len(b.crossed) == 0 {
						t.Errorf("seed %d: %s reached its limit, and its soft limit was not reported", seed, b.Name())
					}
				}
				sent += len(b.bills)
			}
		})
	}
	if reached < 200 || reported < 300 || sent < 5000 {
		t.Errorf("%d limits reached, %d reports, %d requests: the test shows too little", reached, reported, sent)
	}
}

// A soft limit is reported when the spending comes to it, again after a raise or a reset, and never for a request that it would stop.
func TestSoftLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		report := func(e *budget.Error) {
			got = append(got, fmt.Sprintf("%s %s %.2f/%.2f", e.Budget.Name(), e.Limit, e.Spent, e.Max))
		}
		s := &server{model: dear, answer: says(20)} // $0.20
		session := budget.New("session", budget.Limits{Money: 2, Soft: 0.5, Crossed: report})
		run := session.Child("run", budget.Limits{Tokens: 100, Turns: 4, Soft: 0.75, Crossed: report})
		settled := 0
		session.OnSettle(func() { settled++ })
		expect := func(words ...string) {
			t.Helper()
			if want := strings.Join(words, ", "); strings.Join(got, ", ") != want {
				t.Errorf("reports %q, want %q", got, want)
			}
			got = nil
		}
		asks := func(n int) {
			t.Helper()
			for range n {
				if err := ask(t.Context(), run.Client(s)); err != nil {
					t.Fatal(err)
				}
			}
		}
		asks(2)
		expect()
		asks(1)
		expect("run tokens 90.00/100.00")
		asks(1)
		expect()
		run.Set(budget.Limits{Tokens: 1000, Turns: 4, Soft: 0.75, Crossed: report})
		asks(1)
		expect("session money 1.00/2.00")
		for range 3 {
			if err := run.Turn(); err != nil {
				t.Fatal(err)
			}
		}
		expect("run turns 3.00/4.00")
		session.Set(budget.Limits{Money: 1.5, Soft: 0.5, Crossed: report})
		expect("session money 1.00/1.50")
		session.Reset()
		session.AtLeast(llm.Usage{Input: 1, Cost: 0.8})
		expect("session money 0.80/1.50")
		session.Set(budget.Limits{Money: 0.9})
		expect()
		if settled != 5 {
			t.Errorf("%d requests settled", settled)
		}
	})
}
