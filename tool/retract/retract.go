package retract

import (
	"context"
	_ "embed"

	"github.com/tenon-agent/tenon/tool"
)

// Conversation shows the tools the context of the model and records its requests. Implementations are safe for concurrent use.
type Conversation interface {
	// Results returns the results of calls that the model sees in full, the oldest first.
	Results(ctx context.Context) ([]Result, error)

	// GiveUp records that the model drops one of the Results. Summary may be empty.
	GiveUp(ctx context.Context, r Result, reason, summary string) error

	// Steps returns how far the model can go back from its current answer.
	Steps(ctx context.Context) (Steps, error)

	// GoBack records that the model goes back to before this number of answers, in addition to the current one.
	GoBack(ctx context.Context, steps int, category, lesson string) error
}

// Result is the result of a call.
type Result struct {
	Entry string // identifies it: some models reuse the IDs of calls
	Call  string // ToolCall.ID
	Tool  string
	Text  string
}

// Steps describes how far a model can go back.
type Steps struct {
	Most    int    // answers
	Why     string // the reason for the limit
	Pending bool   // the next answer already goes back
}

// New returns the tools cleanup and revert.
func New(c Conversation) []tool.Tool { return []tool.Tool{cleanup(c), revert(c)} }

//go:embed cleanup.md
var cleanupText string

//go:embed revert.md
var revertText string
