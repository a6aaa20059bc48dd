package llmtest

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// turns is a parsed script. It is not changed once it is parsed.
type turns []turn

// turn is one answer: what happens on the way, and the message at its end.
type turn struct {
	steps   []step
	message llm.Message // Model is filled in by the client that plays it
}

// step is one of emit, reset, sleep, hang, failure, stop and alarm.
type step any

type (
	emit struct { // yields event so many times
		event llm.Event
		times int
	}
	reset   struct{ cause *llm.Error }
	sleep   struct{ time.Duration }
	hang    struct{}
	failure struct{ err *llm.Error }
	stop    struct{} // without the final event
	alarm   struct{ message string }
)

// answer is a [source].
func (ts turns) answer(ctx context.Context, c *Client, n int, req *llm.Request) iter.Seq2[llm.Event, error] {
	what := "request"
	if c.byHistory {
		what, n = "turn", answers(req)
	}
	if n >= len(ts) {
		return fail(&llm.Error{
			Kind: llm.KindOther, Model: c.model.Ref(),
			Message: fmt.Sprintf("the script of this test ran out: it has %d turns and this is %s %d", len(ts), what, n+1),
		})
	}
	return func(yield func(llm.Event, error) bool) {
		t := ts[n]
		for _, s := range t.steps {
			if !c.play(ctx, s, yield) {
				return
			}
		}
		m := t.message
		m.Model = c.model.Ref()
		yield(llm.Done{Message: m}, nil)
	}
}

// play does one step and reports whether the answer continues.
func (c *Client) play(ctx context.Context, s step, yield func(llm.Event, error) bool) bool {
	switch s := s.(type) {
	case emit:
		return c.noStream || c.emit(ctx, s, yield)
	case reset:
		return c.noStream || yield(llm.Reset{Cause: c.named(s.cause)}, nil)
	case sleep:
		if wait(ctx, s.Duration) {
			return true
		}
		yield(nil, c.cancelled(ctx))
	case hang:
		<-ctx.Done()
		yield(nil, c.cancelled(ctx))
	case failure:
		yield(nil, c.named(s.err))
	case alarm:
		panic(s.message)
	}
	return false
}

func (c *Client) emit(ctx context.Context, s emit, yield func(llm.Event, error) bool) bool {
	for range s.times {
		if ctx.Err() != nil {
			yield(nil, c.cancelled(ctx))
			return false
		}
		if !yield(s.event, nil) {
			return false
		}
	}
	return true
}

// named returns a copy of err that says which model it comes from.
func (c *Client) named(err *llm.Error) *llm.Error {
	if err == nil {
		return nil
	}
	own := *err
	own.Model = c.model.Ref()
	return &own
}

func answers(req *llm.Request) int {
	n := 0
	for i := range req.Messages {
		if req.Messages[i].Role == llm.RoleAssistant {
			n++
		}
	}
	return n
}

// wait waits for d and reports whether ctx is still alive.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
