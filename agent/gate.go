package agent

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// Gate decides which calls may run. It gets all calls of one answer together, those with usable arguments, and returns one
// verdict for each, in their order. It may wait for a person. An error denies all of them and ends the run.
type Gate interface {
	Decide(ctx context.Context, calls []Proposed) ([]Verdict, error)
}

// Proposed is a call that waits for its verdict.
type Proposed struct {
	Call    llm.ToolCall
	Tool    llm.Tool
	Effects tool.Effects
}

// Verdict is the decision about one call. The zero value denies it.
type Verdict struct {
	Allow     bool
	By        string // the rule or the person; with it, or with a Reason, the decision is kept in the journal
	Reason    string // in words; a denial's goes to the model
	Arguments string // JSON, when the call is to run with other arguments; they are checked again
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
