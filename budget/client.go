package budget

import (
	"context"
	"iter"
	"slices"

	"github.com/tenon-agent/tenon/llm"
)

// Client returns c with every request drawn from the budget. If c sends several requests for one answer, as a chain does,
// each is drawn. A client may be wrapped by several budgets of a tree: each node counts a request once.
//
// A request that a limit refuses fails with an [*llm.Error] of [llm.KindBudget] that wraps an [*Error]. A nil Budget has no
// limits.
func (b *Budget) Client(c llm.Client) llm.Client {
	if b == nil {
		return c
	}
	return &client{b, c}
}

type client struct {
	budget *Budget
	llm.Client
}

// pool is a client that may ask several models.
type pool interface{ Models() []llm.Model }

// Models returns the models that the client may ask.
func (c *client) Models() []llm.Model {
	if p, ok := c.Client.(pool); ok {
		return p.Models()
	}
	return []llm.Model{c.Model()}
}

// drawnKey is the key of the nodes in a context that count the request already.
type drawnKey struct{}

// Stream implements [llm.Client].
func (c *client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		drawn, _ := ctx.Value(drawnKey{}).([]*Budget)
		f := flight{client: c, req: req}
		for n := c.budget; n != nil; n = n.parent {
			if slices.Contains(drawn, n) {
				continue
			}
			f.nodes = append(f.nodes, n)
			if limit := n.Limits().Time; limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadlineCause(ctx, n.begun.Add(limit), &Error{Budget: n, Limit: Time, Max: limit.Seconds()})
				defer cancel()
			}
		}
		f.ctx = context.WithValue(ctx, drawnKey{}, slices.Concat(drawn, f.nodes))
		f.run(yield)
	}
}

// flight is one answer on its way: at any time at most one request of it holds a reservation.
type flight struct {
	*client
	ctx   context.Context
	req   *llm.Request
	nodes []*Budget

	holds   bool
	reserve amount
	input   int64 // estimated tokens of the request
	output  int   // bytes that the model has written to the request in flight
}

func (f *flight) run(yield func(llm.Event, error) bool) {
	if err := f.take(); err != nil {
		yield(nil, f.refused(err))
		return
	}
	defer f.settle(f.lost) // of a consumer that leaves, and of a panic
	for e, err := range f.Client.Stream(f.ctx, f.req) {
		if err != nil {
			failed := llm.AsError(err)
			f.settle(func() llm.Usage { return f.failed(failed) })
			if timeout := timeOf(f.ctx); timeout != nil {
				failed = f.refused(timeout)
			}
			yield(nil, failed)
			return
		}
		switch e := e.(type) {
		case llm.TextDelta:
			f.output += len(e.Text)
		case llm.ThinkingDelta:
			f.output += len(e.Text)
		case llm.CallDelta:
			f.output += len(e.Name) + len(e.Arguments)
		case llm.Charged:
			f.settle(func() llm.Usage { return e.Usage })
		case llm.Done:
			f.settle(func() llm.Usage { return f.done(e.Message) })
			yield(e, nil)
			return
		}
		if !yield(e, nil) {
			return
		}
		switch e.(type) {
		case llm.Waiting, llm.Routed: // the request has failed; another one follows
			f.settle(f.written)
			if err := f.take(); err != nil {
				yield(nil, f.refused(err))
				return
			}
		}
	}
}

// take reserves the estimate of a request.
func (f *flight) take() error {
	for _, n := range f.nodes {
		limits := n.Limits()
		if limits.Money <= 0 {
			continue
		}
		if i := slices.IndexFunc(f.Models(), func(m llm.Model) bool { return !m.Price.Known() }); i >= 0 {
			unknown := f.Models()[i]
			if limits.Unpriced == nil {
				return &Error{Budget: n, Limit: Unpriced, Max: limits.Money, Spent: n.Spent().Cost, Model: unknown}
			}
			limits.Unpriced(unknown)
		}
	}
	if f.input == 0 {
		f.input = estimate(f.req)
	}
	f.reserve = most(f.Models(), f.req, f.input)
	err := f.budget.tree.reserve(f.ctx, f.nodes, f.reserve)
	f.holds = err == nil
	return err
}

// settle ends the reservation with what the request has used, if it has not ended yet.
func (f *flight) settle(used func() llm.Usage) {
	if f.holds {
		f.budget.tree.settle(f.nodes, f.reserve, used())
	}
	f.holds, f.output = false, 0
}

// done is the usage of a whole answer. Where the provider reports nothing, it is estimated.
func (f *flight) done(m llm.Message) llm.Usage {
	u := m.Usage
	if u.Total() == 0 && u.Cost == 0 {
		f.output = max(f.output, m.Content.Bytes(), 1)
		return f.written()
	}
	u.Cost = f.Model().Price.Cost(u)
	return u
}

// failed is what is known of the usage of a request that failed: nothing if the provider refused it, else an estimate.
func (f *flight) failed(err *llm.Error) llm.Usage {
	if err.Kind == llm.KindCancelled {
		return f.lost()
	}
	return f.written()
}

// lost estimates the usage of a request whose answer was not awaited: the provider has read it.
func (f *flight) lost() llm.Usage {
	f.output = max(f.output, 1)
	return f.written()
}

// written estimates the usage of a request by what the model has written to it. To one that it has not begun to answer it is zero.
func (f *flight) written() llm.Usage {
	if f.output == 0 {
		return llm.Usage{}
	}
	u := llm.Usage{Input: f.input, Output: tokens(f.output)}
	u.Cost = f.Model().Price.Cost(u)
	return u
}

// refused is the error of a request that was not sent, or whose time is over.
func (f *flight) refused(err error) *llm.Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // it comes from this package
		return &llm.Error{Kind: llm.KindBudget, Model: f.Model().Ref(), Message: e.Error(), Err: e}
	}
	return &llm.Error{Kind: llm.KindCancelled, Model: f.Model().Ref(), Err: err}
}

// timeOf returns the limit of time that has ended a context, if one has.
func timeOf(ctx context.Context) error {
	if e, ok := context.Cause(ctx).(*Error); ok { //nolint:errorlint // it comes from this package
		return e
	}
	return nil
}
