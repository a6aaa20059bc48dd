package retract

import (
	"context"
	_ "embed"

	"github.com/tenon-agent/tenon/tool"
)

// Conversation is what the tools look at, and where they record what the model wants. Implementations are safe for concurrent use.
type Conversation interface {
	// Results is the results of calls that the model sees word for word, oldest first.
	Results(ctx context.Context) ([]Result, error)

	// GiveUp records that the model gives up one of the Results. Summary may be empty.
	GiveUp(ctx context.Context, r Result, reason, summary string) error

	// Steps is how far the model can go back from the answer that it gives now.
	Steps(ctx context.Context) (Steps, error)

	// GoBack records that the model goes back to before so many answers, beside the one that it gives now.
	GoBack(ctx context.Context, steps int, category, lesson string) error
}

// Result is the result of a call.
type Result struct {
	Entry string // names it: some models give calls of later answers the same names again
	Call  string // ToolCall.ID
	Tool  string
	Text  string
}

// Steps is how far a model can go back.
type Steps struct {
	Most    int    // answers
	Why     string // what lies before these, in words
	Pending bool   // it goes back already
}

// New returns the tools cleanup and revert.
func New(c Conversation) []tool.Tool { return []tool.Tool{cleanup(c), revert(c)} }

//go:embed cleanup.md
var cleanupText string

//go:embed revert.md
var revertText string
