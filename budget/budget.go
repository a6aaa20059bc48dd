package budget

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Limits is the limits of one node. A limit that is zero or negative is none.
type Limits struct {
	Money  float64       // US dollars
	Tokens int64         // of all kinds, see [Weight]
	Turns  int           // see [Budget.Turn]
	Time   time.Duration // wall clock from the creation of the node on

	// Soft is a share of each limit, such as 0.8. When the spending of the node reaches that share of a limit, Crossed receives the limit:
	// once, and again after the limit changes or the spending was below the share meanwhile. Budget does not stop anything for it. Crossed
	// runs on the goroutine of the request that settles; no other request waits for it. 0: none.
	Soft    float64
	Crossed func(*Error)

	// Unpriced receives every model without a known price that answers although Money is limited. Nil: such requests are refused, because
	// their cost is unknown.
	Unpriced func(llm.Model)
}

// Weight is the number of tokens that usage counts under a limit of tokens. Tokens read from the provider's cache count a tenth: they cost
// about as much less, and a long run reads the same ones with every request.
func Weight(u llm.Usage) int64 { return u.Total() - u.CacheRead + u.CacheRead/10 }

// Policy says what happens to a request under a limit of money if the price of its model is unknown. Programs that let people choose map it
// to [Limits.Unpriced].
type Policy string

// The policies.
const (
	Refuse Policy = "refuse" // it fails
	Notice Policy = "notice" // it is sent, and people learn that it does not count
)

// Spending is what a node has spent.
type Spending struct {
	llm.Usage
	Turns int
}

// Budget is a node of a tree of limits. Its methods are safe for concurrent use.
type Budget struct {
	name   string
	parent *Budget // nil: the root
	begun  time.Time
	tree   *tree

	// Of the tree's lock.
	limits   Limits
	ends     time.Time // zero: no limit of time
	spent    Spending
	reserved amount            // by requests in flight
	flights  int               // requests in flight
	crossed  map[Limit]float64 // the limits whose soft share is reached, as Crossed received them
	settled  func()            // see OnSettle
}

// tree is shared by all nodes.
type tree struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a request settles
}

// amount is a quantity that requests draw.
type amount struct {
	money  float64
	tokens int64
}

// New returns the root of a tree. Errors mention the name, such as "day" or "session".
func New(name string, l Limits) *Budget {
	return node(name, l, nil, &tree{changed: make(chan struct{})})
}

// Child returns a node that draws from its own limits and from those of b and its parents.
func (b *Budget) Child(name string, l Limits) *Budget { return node(name, l, b, b.tree) }

func node(name string, l Limits, parent *Budget, t *tree) *Budget {
	b := &Budget{name: name, begun: time.Now(), parent: parent, tree: t}
	b.Set(l)
	return b
}

// Name returns the name of the node.
func (b *Budget) Name() string { return b.name }

// Limits returns the limits of the node itself.
func (b *Budget) Limits() Limits {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	return b.limits
}

// Set replaces the limits of the node. Requests in flight finish.
func (b *Budget) Set(l Limits) {
	b.update(func() {
		b.limits, b.ends = l, time.Time{}
		if l.Time > 0 {
			b.ends = b.begun.Add(l.Time)
		}
		b.tree.wake()
	})
}

// update changes the node or its parents too, and then reports the soft limits that they cross.
func (b *Budget) update(change func()) {
	var reports []func()
	b.tree.mu.Lock()
	change()
	for n := b; n != nil; n = n.parent {
		reports = n.crossings(reports)
	}
	b.tree.mu.Unlock()
	for _, report := range reports {
		report()
	}
}

// crossings appends a call of Crossed for each limit whose soft share the node has reached since the last time. The lock is held.
func (b *Budget) crossings(reports []func()) []func() {
	l, s := b.limits, b.spent
	if l.Soft <= 0 || l.Crossed == nil {
		return reports
	}
	for _, one := range []Error{
		{Limit: Money, Max: l.Money, Spent: s.Cost},
		{Limit: Tokens, Max: float64(l.Tokens), Spent: float64(Weight(s.Usage))},
		{Limit: Turns, Max: float64(l.Turns), Spent: float64(s.Turns)},
		{Limit: Time, Max: l.Time.Seconds(), Spent: time.Since(b.begun).Seconds()},
	} {
		switch {
		case one.Max <= 0 || one.Spent < l.Soft*one.Max:
			delete(b.crossed, one.Limit)
		case b.crossed[one.Limit] != one.Max:
			if b.crossed == nil {
				b.crossed = make(map[Limit]float64)
			}
			b.crossed[one.Limit] = one.Max
			one.Budget = b
			reports = append(reports, func() { l.Crossed(&one) })
		}
	}
	return reports
}

// OnSettle lets f run after each request of the node or of a node below it that has used something, on the goroutine of that request.
func (b *Budget) OnSettle(f func()) {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	b.settled = f
}

// Parent returns the node that b draws from, nil for a root.
func (b *Budget) Parent() *Budget { return b.parent }

// Spent returns what the requests of the node and of all nodes below it have spent.
func (b *Budget) Spent() Spending {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	return b.spent
}

// AtLeast raises the spending of the node to u, in money and in tokens. It brings in what a journal knows, such as the usage of a session
// before it was opened, or of other processes. The parents do not change.
func (b *Budget) AtLeast(u llm.Usage) {
	b.update(func() {
		if u.Total() > b.spent.Total() {
			cost := b.spent.Cost
			b.spent.Usage, b.spent.Cost = u, cost
		}
		b.spent.Cost = max(b.spent.Cost, u.Cost)
	})
}

// Reset forgets what the node has spent, such as when a new day begins. The parents do not change.
func (b *Budget) Reset() {
	b.update(func() {
		b.spent = Spending{}
		b.tree.wake()
	})
}

// Turn takes one turn from the node and all its parents. If one of them has none left, it takes nothing and returns an [*Error].
func (b *Budget) Turn() (err error) {
	b.update(func() {
		for n := b; n != nil; n = n.parent {
			if err = n.exhausted(true); err != nil {
				return
			}
		}
		for n := b; n != nil; n = n.parent {
			n.spent.Turns++
		}
	})
	return err
}

// Err returns an [*Error] if a limit of the node or of a parent is reached, the nearest first, and nil if another turn may begin.
func (b *Budget) Err() error {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	for n := b; n != nil; n = n.parent {
		if err := n.exhausted(true); err != nil {
			return err
		}
	}
	return nil
}

// exhausted returns the error of the first limit of the node that is reached. The lock is held.
func (b *Budget) exhausted(turns bool) error {
	l, s := b.limits, b.spent
	switch {
	case turns && l.Turns > 0 && s.Turns >= l.Turns:
		return &Error{Budget: b, Limit: Turns, Max: float64(l.Turns), Spent: float64(s.Turns)}
	case l.Tokens > 0 && Weight(s.Usage) >= l.Tokens:
		return &Error{Budget: b, Limit: Tokens, Max: float64(l.Tokens), Spent: float64(Weight(s.Usage))}
	case l.Money > 0 && s.Cost >= l.Money:
		return &Error{Budget: b, Limit: Money, Max: l.Money, Spent: s.Cost}
	case !b.ends.IsZero() && !time.Now().Before(b.ends):
		return &Error{Budget: b, Limit: Time, Max: l.Time.Seconds(), Spent: l.Time.Seconds()}
	}
	return nil
}

// fits reports whether the node can reserve a without exceeding a limit, unless nothing else is in flight: the last request before a limit
// may exceed it, alone. The lock is held.
func (b *Budget) fits(a amount) bool {
	l := b.limits
	return b.flights == 0 ||
		(l.Money <= 0 || b.spent.Cost+b.reserved.money+a.money <= l.Money) &&
			(l.Tokens <= 0 || Weight(b.spent.Usage)+b.reserved.tokens+a.tokens <= l.Tokens)
}

// reserve takes a from the nodes. It waits as long as requests in flight leave too little, and returns an error if a limit is reached or ctx
// ends.
func (t *tree) reserve(ctx context.Context, nodes []*Budget, a amount) error {
	for {
		t.mu.Lock()
		for _, n := range nodes {
			if err := n.exhausted(false); err != nil {
				t.mu.Unlock()
				return err
			}
		}
		if !slices.ContainsFunc(nodes, func(n *Budget) bool { return !n.fits(a) }) {
			for _, n := range nodes {
				n.flights++
				n.reserved.money += a.money
				n.reserved.tokens += a.tokens
			}
			t.mu.Unlock()
			return nil
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settle gives a reservation back and counts what was really spent.
func (t *tree) settle(nodes []*Budget, a amount, u llm.Usage) {
	var reports []func()
	t.mu.Lock()
	for _, n := range nodes {
		n.flights--
		n.reserved.money -= a.money
		n.reserved.tokens -= a.tokens
		if n.flights == 0 {
			n.reserved = amount{} // without the errors of floating point
		}
		n.spent.Usage = n.spent.Plus(u)
		reports = n.crossings(reports)
		if n.settled != nil && u != (llm.Usage{}) {
			reports = append(reports, n.settled)
		}
	}
	t.wake()
	t.mu.Unlock()
	for _, report := range reports {
		report()
	}
}

// wake lets those who wait for a reservation look again. The lock is held.
func (t *tree) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

type contextKey struct{}

// With returns a context that carries the budget, for [Of].
func (b *Budget) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// Of returns the budget that a context carries: in a tool, that of the run that called it, from which a sub-agent should draw. It is nil
// elsewhere.
func Of(ctx context.Context) *Budget {
	b, _ := ctx.Value(contextKey{}).(*Budget)
	return b
}
