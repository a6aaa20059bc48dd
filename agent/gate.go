package agent

import (
	"context"
	"encoding/json"
	"runtime"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// Gate decides which calls may run. It gets all calls of one answer together, those with usable arguments, and returns one
// verdict for each, in their order. It may wait for a person; what is told meanwhile, see [Agent.Announce], reaches the consumer
// of the run. A call that is to run with other arguments is proposed once more with these. An error denies all calls and ends the run.
type Gate interface {
	Decide(ctx context.Context, calls []Proposed) ([]Verdict, error)
}

// Proposed is a call that waits for its verdict.
type Proposed struct {
	Call      llm.ToolCall
	Tool      llm.Tool
	Arguments json.RawMessage // as they would be run, after validation
	Effects   tool.Effects
	Preview   func(ctx context.Context) (string, error) // what it would change, for a person who is asked; nil: the tool cannot tell
	Changed   bool                                      // these are not the model's arguments but those of an earlier verdict about the call
}

// Verdict is the decision about one call. The zero value denies it.
type Verdict struct {
	Allow     bool
	By        string // the rule or the person; with it, or with a Reason, the decision is kept in the journal
	Reason    string // in words; a denial's goes to the model
	Arguments string // JSON, when the call is to run with other arguments; with these it is proposed again
}

// GateFunc is a function as a [Gate] that decides each call by itself.
type GateFunc func(ctx context.Context, call Proposed) Verdict

// Decide implements [Gate].
func (f GateFunc) Decide(ctx context.Context, calls []Proposed) ([]Verdict, error) {
	verdicts := make([]Verdict, len(calls))
	for i, c := range calls {
		verdicts[i] = f(ctx, c)
	}
	return verdicts, nil
}

// ask lets the gate decide about calls, and hands out what happens meanwhile: a person must see the question to answer it.
func (r *run) ask(calls []Proposed) (verdicts []Verdict, err error) {
	var (
		done     = make(chan struct{})
		returned bool
		panicked any
	)
	go func() {
		defer close(done)
		defer func() {
			if !returned {
				panicked = recover()
			}
		}()
		verdicts, err = r.a.options.Gate.Decide(r.ctx, calls)
		returned = true
	}()
	over := false
	defer func() {
		if !over { // a panic of the consumer passes through: the gate must not outlive the run
			r.cancel(errLeft)
			<-done
		}
	}()
	for {
		select {
		case <-r.a.feed.arrived:
			r.drain()
			continue
		case <-done:
		}
		over = true
		switch {
		case returned:
			return verdicts, err
		case panicked != nil:
			panic(panicked)
		}
		runtime.Goexit()
	}
}

// ReadOnly allows the calls that only look and denies the rest. It is the default: nobody was asked.
func ReadOnly() Gate {
	return GateFunc(func(_ context.Context, c Proposed) Verdict {
		if c.Effects.ReadOnly() {
			return Verdict{Allow: true}
		}
		return Verdict{By: "read only", Reason: "only calls that change nothing are allowed here"}
	})
}

// AllowAll allows every call.
func AllowAll() Gate {
	return GateFunc(func(context.Context, Proposed) Verdict { return Verdict{Allow: true} })
}
