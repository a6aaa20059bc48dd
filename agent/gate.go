package agent

import (
	"context"
	"encoding/json"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// Gate decides which calls may run. It gets all calls of one answer together, those with usable arguments, and returns one
// verdict for each, in their order. It may wait for a person, see [Agent.Ask]. A call that is to run with other arguments is proposed once more with these. An error denies all calls and ends the run.
type Gate interface {
	Decide(ctx context.Context, calls []Proposed) ([]Verdict, error)
}

// Proposed is a call that waits for its verdict.
type Proposed struct {
	Call      llm.ToolCall
	Tool      llm.Tool
	As        string          // the name for rules and people: tool.Call.As, or that of the tool
	Title     string          // tool.Call.Title
	Arguments json.RawMessage // as they would be run, after validation
	Effects   tool.Effects
	Preview   func(ctx context.Context) (string, error) // a diff for the person who approves the call; nil: the tool has none
	Changed   bool                                      // these are not the model's arguments but those of an earlier verdict about the call
}

// Verdict is the decision about one call. The zero value denies it.
type Verdict struct {
	Allow     bool
	By        string         // the rule or the person; with it, or with a Reason, the decision is kept in the journal
	Code      string         // the reason, stable and for programs: "permission.outside_read"
	Reason    string         // in words; a denial's goes to the model
	Remedy    session.Remedy // of a denial
	Arguments string         // JSON, when the call is to run with other arguments; with these it is proposed again
	Fails     error          // the call would fail so: the model gets this error, and the call does not run; nil: the other fields count
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

// CodeReadOnly is the code of the denials of [ReadOnly].
const CodeReadOnly = "agent.read_only"

// ReadOnly allows the calls that change nothing and denies all others. It is the default.
func ReadOnly() Gate {
	return fixed(func(_ context.Context, c Proposed) Verdict {
		if c.Effects.ReadOnly() {
			return Verdict{Allow: true}
		}
		return Verdict{By: "read only", Code: CodeReadOnly, Reason: "only calls that change nothing are allowed here"}
	})
}

// AllowAll allows every call.
func AllowAll() Gate {
	return fixed(func(context.Context, Proposed) Verdict { return Verdict{Allow: true} })
}

// fixed is a gate whose verdicts depend on nothing but the call.
type fixed func(ctx context.Context, call Proposed) Verdict

// Decide implements [Gate].
func (f fixed) Decide(ctx context.Context, calls []Proposed) ([]Verdict, error) {
	return GateFunc(f).Decide(ctx, calls)
}

// Foresee implements [Foreseer].
func (f fixed) Foresee(call Proposed) bool { return f(context.Background(), call).Allow }
