package plan

import (
	"context"
	_ "embed"

	"github.com/tenon-agent/tenon/tool"
)

// Options name the receivers of the results. A tool without a receiver does not exist.
type Options struct {
	// Record replaces the list of the plan. Its error fails the call. The tool calls it one call at a time.
	Record func(ctx context.Context, items []Item) error

	// Asker asks the person.
	Asker Asker

	// Receiver takes finished plans. Without an Asker no one chooses who executes them.
	Receiver Receiver
}

// New returns the tools handoff, question and todo, as far as they have a receiver.
func New(o Options) []tool.Tool {
	var tools []tool.Tool
	if o.Receiver != nil {
		tools = append(tools, handoff(o.Receiver, o.Asker))
	}
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

//go:embed handoff.md
var handoffText string

//go:embed question.md
var questionText string
