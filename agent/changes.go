package agent

import (
	"context"
	"slices"

	"github.com/tenon-agent/tenon/session"
)

// changes carries out the requests of any process to change the agent.
type changes struct {
	feed  *feed
	apply func(context.Context, session.Change) error // nil: every request is refused
	over  chan struct{}                               // closed when serve has returned
}

// serve carries out one request after the other, until ctx ends or the journal fails.
func (c *changes) serve(ctx context.Context) {
	defer close(c.over)
	for {
		requests, changed := c.feed.now()
		if len(requests.Changes) == 0 {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return
			}
		}
		e := requests.Changes[0]
		done := session.Changed{Request: e.ID}
		var err error = errUnchangeable
		if c.apply != nil {
			err = c.apply(ctx, e.Body.(session.Change))
		}
		if ctx.Err() != nil && err != nil {
			return // the next agent carries it out
		}
		if err != nil {
			done.Error, done.Code = err.Error(), codeOf(err)
		}
		if _, err := c.feed.annotate(ctx, done); err != nil {
			return
		}
	}
}

// settle waits until the requests that are in the journal by now are carried out or refused, so that the next run knows of them.
func (c *changes) settle(ctx context.Context) error {
	requests, _ := c.feed.now()
	for _, e := range requests.Changes {
		for {
			requests, changed := c.feed.now()
			if !slices.ContainsFunc(requests.Changes, func(o session.Event) bool { return o.ID == e.ID }) {
				break
			}
			select {
			case <-changed:
			case <-c.over:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}
