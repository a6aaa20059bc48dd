package budget_test

import (
	"context"
	"errors"
	"iter"
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

// dear costs a dollar for a million tokens read, and a cent for each token written.
var dear = llm.Model{Provider: "test", ID: "dear", MaxOutput: 40, Price: llm.Price{Input: 1, Output: 10_000}}

// server stands in for a provider that bills every request, whatever came of it.
type server struct {
	model  llm.Model
	answer func(n int, yield func(llm.Event, error) bool) llm.Usage // of request n, from 0

	mu       sync.Mutex
	requests int
	flying   int
	most     int     // requests at the same time
	billed   float64 // dollars
	dearest  float64 // request
}

func (s *server) Model() llm.Model { return s.model }

func (s *server) Stream(_ context.Context, _ *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s.mu.Lock()
		n := s.requests
		s.requests++
		s.flying++
		s.most = max(s.most, s.flying)
		s.mu.Unlock()
		u := s.answer(n, func(e llm.Event, err error) bool { return yield(e, err) })
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flying--
		cost := s.model.Price.Cost(u)
		s.billed += cost
		s.dearest = max(s.dearest, cost)
	}
}

// slowly lets time pass before each answer. It is for tests whose time is not real.
func slowly(wait time.Duration, answer func(int, func(llm.Event, error) bool) llm.Usage) func(int, func(llm.Event, error) bool) llm.Usage {
	return func(n int, yield func(llm.Event, error) bool) llm.Usage {
		time.Sleep(wait)
		return answer(n, yield)
	}
}

// says answers every request with a number of tokens.
func says(tokens int64) func(int, func(llm.Event, error) bool) llm.Usage {
	return func(_ int, yield func(llm.Event, error) bool) llm.Usage {
		u := llm.Usage{Input: 10, Output: tokens}
		m := llm.AssistantText("yes")
		m.Usage = u
		yield(llm.Done{Message: m}, nil)
		return u
	}
}

var question = &llm.Request{Messages: []llm.Message{llm.UserText("Is that so?")}}

func ask(ctx context.Context, c llm.Client) error {
	_, err := llm.Collect(ctx, c, question)
	return err
}

// limitOf is the limit that an error names, and whose it is.
func limitOf(err error) string {
	if e, ok := errors.AsType[*budget.Error](err); ok {
		return e.Budget.Name() + " " + e.Code()
	}
	return ""
}

// TestNoMoreThanOneRequestBeyond is the promise of the package: parallel children whose requests fail and are sent again, with their summaries
// and titles, exceed the limit of their parent by at most one request.
func TestNoMoreThanOneRequestBeyond(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			var lock sync.Mutex
			chance := func(n int) int {
				lock.Lock()
				defer lock.Unlock()
				return random.IntN(n)
			}
			s := &server{model: dear}
			s.answer = func(_ int, yield func(llm.Event, error) bool) llm.Usage {
				time.Sleep(time.Duration(chance(2000)) * time.Millisecond)
				if chance(6) == 0 {
					yield(nil, &llm.Error{Kind: llm.KindOverloaded, Status: 529})
					return llm.Usage{} // providers bill no request that they turn away
				}
				u := llm.Usage{Input: 3, Output: int64(1 + chance(39))}
				text := strings.Repeat("abc", int(u.Output))
				if !yield(llm.TextDelta{Text: text}, nil) {
					return u
				}
				time.Sleep(time.Duration(chance(2000)) * time.Millisecond)
				if chance(4) == 0 {
					yield(nil, &llm.Error{Kind: llm.KindNetwork})
					return u
				}
				m := llm.AssistantText(text)
				m.Usage = u
				yield(llm.Done{Message: m}, nil)
				return u
			}
			parent := budget.New("session", budget.Limits{Money: 0.5 + float64(chance(300))/100})
			pool := chain.Retry(s, chain.RetryPolicy{Retries: 2})
			var wg sync.WaitGroup
			for range 5 {
				child := parent.Child("child", budget.Limits{})
				wg.Go(func() {
					var beside sync.WaitGroup
					for range 60 {
						ctx, cancel := t.Context(), func() {}
						if chance(8) == 0 { // the consumer loses patience
							ctx, cancel = context.WithTimeout(ctx, time.Duration(chance(3000))*time.Millisecond)
						}
						beside.Go(func() { _ = ask(t.Context(), parent.Client(s)) }) // a title or a summary
						err := ask(ctx, child.Client(pool))
						cancel()
						if limitOf(err) != "" {
							break
						}
					}
					beside.Wait()
				})
			}
			wg.Wait()
			limit := parent.Limits().Money
			if s.billed > limit+s.dearest+1e-9 {
				t.Errorf("seed %d: %d requests were billed $%.2f under a limit of $%.2f, the dearest $%.2f", seed, s.requests, s.billed, limit, s.dearest)
			}
			if got := limitOf(parent.Err()); got != "session budget.money" {
				t.Errorf("seed %d: %q after $%.2f of $%.2f", seed, got, s.billed, limit)
			}
		})
	}
}

// Far from a limit requests run side by side, near it one after the other.
func TestRequestsWaitNearALimit(t *testing.T) {
	for _, test := range []struct {
		money float64
		most  int
		sent  int
	}{{100, 8, 8}, {0.5, 1, 3}} { // an answer costs $0.20, and may cost $0.40
		synctest.Test(t, func(t *testing.T) {
			s := &server{model: dear, answer: slowly(time.Second, says(20))}
			b := budget.New("run", budget.Limits{Money: test.money})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { _ = ask(t.Context(), b.Client(s)) })
			}
			wg.Wait()
			if s.most != test.most || s.requests != test.sent {
				t.Errorf("$%.2f: %d requests, %d at the same time; want %d and %d", test.money, s.requests, s.most, test.sent, test.most)
			}
		})
	}
}

func TestEachLimitRefuses(t *testing.T) {
	unpriced := llm.Model{Provider: "test", ID: "unknown"}
	for _, test := range []struct {
		name   string
		parent budget.Limits
		child  budget.Limits
		model  llm.Model
		sent   int
		want   string
	}{
		{"money of the child", budget.Limits{Money: 1}, budget.Limits{Money: 0.2}, dear, 1, "child budget.money"},
		{"money of the parent", budget.Limits{Money: 0.3}, budget.Limits{Money: 9}, dear, 2, "parent budget.money"},
		{"tokens", budget.Limits{Tokens: 50}, budget.Limits{}, dear, 2, "parent budget.tokens"},
		{"time", budget.Limits{Time: 90 * time.Second}, budget.Limits{}, dear, 2, "parent budget.time"},
		{"a model without a price", budget.Limits{Money: 1}, budget.Limits{}, unpriced, 0, "parent budget.unpriced"},
		{"a free model", budget.Limits{Money: 1}, budget.Limits{Tokens: 30}, llm.Model{Price: llm.Price{Free: true}}, 1, "child budget.tokens"},
		{"no limits", budget.Limits{}, budget.Limits{Money: -1, Tokens: -1}, unpriced, 5, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{model: test.model, answer: slowly(time.Minute, says(20))}
				child := budget.New("parent", test.parent).Child("child", test.child)
				var err error
				for range 5 {
					if err = ask(t.Context(), child.Client(s)); err != nil {
						break
					}
				}
				if got := limitOf(err); got != test.want || s.requests != test.sent {
					t.Errorf("%d requests, then %q (%v); want %d, then %q", s.requests, got, err, test.sent, test.want)
				}
				if err != nil && llm.AsError(err).Kind != llm.KindBudget {
					t.Errorf("the kind is %s", llm.AsError(err).Kind)
				}
			})
		})
	}
}

func TestTurns(t *testing.T) {
	parent := budget.New("parent", budget.Limits{Turns: 3})
	child := parent.Child("child", budget.Limits{Turns: 2})
	for range 2 {
		if err := child.Turn(); err != nil {
			t.Fatal(err)
		}
	}
	if got := limitOf(child.Turn()); got != "child budget.turns" {
		t.Error(got)
	}
	if err := parent.Turn(); err != nil || parent.Spent().Turns != 3 {
		t.Errorf("%v; the parent has %d turns", err, parent.Spent().Turns)
	}
	if got := limitOf(parent.Child("other", budget.Limits{}).Turn()); got != "parent budget.turns" {
		t.Error(got)
	}
}

// A notice in place of the refusal is for people who accept that costs are not known.
func TestUnpricedNotice(t *testing.T) {
	var notices []string
	s := &server{model: llm.Model{Provider: "test", ID: "unknown"}, answer: says(1)}
	b := budget.New("run", budget.Limits{Money: 1, Unpriced: func(m llm.Model) { notices = append(notices, m.Ref()) }})
	if err := ask(t.Context(), b.Client(s)); err != nil || len(notices) != 1 || notices[0] != "test/unknown" {
		t.Errorf("%v, notices %q", err, notices)
	}
}

// pool is a client with models of different prices.
type pool struct {
	*server
	models []llm.Model
}

func (p pool) Models() []llm.Model { return p.models }

func TestAPoolWithAModelWithoutAPrice(t *testing.T) {
	p := pool{&server{model: dear, answer: says(1)}, []llm.Model{dear, {Provider: "test", ID: "unknown"}}}
	b := budget.New("run", budget.Limits{Money: 1})
	if got := limitOf(ask(t.Context(), b.Child("child", budget.Limits{}).Client(b.Client(p)))); got != "run budget.unpriced" {
		t.Error(got)
	}
}

// A client that several budgets of a tree wrap is drawn once from each node.
func TestNestedClients(t *testing.T) {
	s := &server{model: dear, answer: says(20)}
	parent := budget.New("parent", budget.Limits{Money: 0.3})
	child := parent.Child("child", budget.Limits{})
	if err := ask(t.Context(), child.Client(chain.Retry(parent.Client(s), chain.RetryPolicy{}))); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*budget.Budget{parent, child} {
		if got := b.Spent(); got.Output != 20 || got.Input != 10 {
			t.Errorf("%s has spent %+v", b.Name(), got)
		}
	}
}

// Whatever ends a request, its reservation ends too, and what is known of its usage counts.
func TestEndsOfRequests(t *testing.T) {
	long := strings.Repeat("abc", 25) // about 25 tokens
	for name, test := range map[string]struct {
		answer func(int, func(llm.Event, error) bool) llm.Usage
		events int // that the consumer takes; 0: all
		output int64
	}{
		"refused by the provider": {func(_ int, yield func(llm.Event, error) bool) llm.Usage {
			yield(nil, &llm.Error{Kind: llm.KindAuth, Status: 401})
			return llm.Usage{}
		}, 0, 0},
		"broken in the answer": {func(_ int, yield func(llm.Event, error) bool) llm.Usage {
			_ = yield(llm.TextDelta{Text: long}, nil) && yield(nil, &llm.Error{Kind: llm.KindNetwork})
			return llm.Usage{}
		}, 0, 25},
		"left in the answer": {func(_ int, yield func(llm.Event, error) bool) llm.Usage {
			_ = yield(llm.TextDelta{Text: long}, nil) && yield(nil, &llm.Error{Kind: llm.KindNetwork})
			return llm.Usage{}
		}, 1, 25},
		"cancelled": {func(_ int, yield func(llm.Event, error) bool) llm.Usage {
			yield(nil, &llm.Error{Kind: llm.KindCancelled})
			return llm.Usage{}
		}, 0, 1},
		"without usage": {func(_ int, yield func(llm.Event, error) bool) llm.Usage {
			yield(llm.Done{Message: llm.AssistantText(long)}, nil)
			return llm.Usage{}
		}, 0, 25},
	} {
		t.Run(name, func(t *testing.T) {
			b := budget.New("run", budget.Limits{Money: 0.5})
			taken := 0
			for range b.Client(&server{model: dear, answer: test.answer}).Stream(t.Context(), question) {
				if taken++; taken == test.events {
					break
				}
			}
			if got := b.Spent(); got.Output != test.output || got.Cost < float64(test.output)*0.01 {
				t.Errorf("spent %+v, want %d tokens of output", got, test.output)
			}
			// a second request is not alone if the first still holds its reservation
			s := &server{model: dear, answer: says(1)}
			if err := ask(t.Context(), b.Client(s)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{model: dear, answer: slowly(time.Hour, says(20))}
		b := budget.New("run", budget.Limits{Money: 0.5})
		go func() { _ = ask(t.Context(), b.Client(s)) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := ask(ctx, b.Client(s)); llm.AsError(err).Kind != llm.KindCancelled || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestAtLeastAndReset(t *testing.T) {
	day := budget.New("day", budget.Limits{Money: 1})
	day.AtLeast(llm.Usage{Input: 5, Cost: 2})
	day.AtLeast(llm.Usage{Input: 3, Cost: 1})
	if got := day.Spent(); got.Input != 5 || got.Cost != 2 || limitOf(day.Err()) != "day budget.money" {
		t.Errorf("%+v, %v", got, day.Err())
	}
	day.Reset()
	if err := day.Err(); err != nil {
		t.Error(err)
	}
}

func TestOf(t *testing.T) {
	b := budget.New("run", budget.Limits{})
	if budget.Of(t.Context()) != nil || budget.Of(b.With(t.Context())) != b {
		t.Error("the context does not carry the budget")
	}
}
