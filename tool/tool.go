package tool

import (
	"context"
	"encoding/json"

	"github.com/tenon-agent/tenon/llm"
)

// Tool is something that a model may ask for. Implementations are safe for concurrent use.
type Tool interface {
	// Spec is what the model is told. It never changes.
	Spec() llm.Tool

	// Prepare checks arguments, the JSON text as a model wrote it, and returns the call that they describe. It touches
	// nothing but may look, to resolve paths. The error is for the model: it says what is wrong and how to mend it.
	Prepare(ctx context.Context, arguments string) (*Call, error)
}

// Call is one validated call, ready to be judged, scheduled and run at most once.
type Call struct {
	Arguments json.RawMessage // as they will be run, in canonical form: members in the order of the schema
	Effects   Effects

	// Run does it. It returns soon after ctx ends. An error is a failure that the model is told, as text.
	Run func(ctx context.Context, report Report) (Result, error)

	// Preview says, for the person who is asked, what Run would change now: a unified diff. It changes nothing, may be called
	// any number of times before Run, and fails where Run would fail. Nil: there is nothing to show.
	Preview func(ctx context.Context) (string, error)
}

// Report tells people how a running call goes on; text adds to what was told before. It may be called from any goroutine,
// does not block, and does nothing after the call has ended.
type Report func(text string)

// Result is what came of a call.
type Result struct {
	Content llm.Content // for the model
	IsError bool        // the call did not do what it was to do
	Details any         // for people and programs, as JSON; never for the model
}

// TextResult is a result of one text.
func TextResult(text string) Result {
	return Result{Content: llm.Content{llm.Text{Text: text}}}
}
