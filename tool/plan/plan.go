package plan

import (
	"context"
	_ "embed"

	"github.com/tenon-agent/tenon/tool"
)

// Options say who takes what the tools produce. A tool without a taker does not exist.
type Options struct {
	// Record keeps the whole list of what is to be done, in the place of the one before. Its error fails the call. Calls of it
	// come one at a time.
	Record func(ctx context.Context, items []Item) error

	// Asker asks the person.
	Asker Asker
}

// New returns the tools question and todo, as far as there is somebody for what they produce.
func New(o Options) []tool.Tool {
	var tools []tool.Tool
	if o.Asker != nil {
		tools = append(tools, question(o.Asker))
	}
	if o.Record != nil {
		tools = append(tools, todo(o.Record))
	}
	return tools
}

//go:embed todo.md
var todoText string

//go:embed question.md
var questionText string
