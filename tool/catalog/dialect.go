package catalog

import (
	"encoding/json"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Inner is the dialect that a [Dialect] completes: an agent.Dialect, which documents the methods.
type Inner interface {
	// Offer returns the definitions of tools for requests.
	Offer(tools []llm.Tool) []llm.Tool

	// Answer returns an answer as the journal keeps it.
	Answer(m llm.Message) llm.Message

	// Call returns a call with the name and the arguments that the tool knows.
	Call(c llm.ToolCall) (llm.ToolCall, error)

	// Messages returns a conversation as the model reads it.
	Messages(all []llm.Message) []llm.Message
}

// Dialect turns a call of [Call] into the call of the tool that it names, so that the gate, hooks, the journal and screens have its name and its
// arguments.
type Dialect struct {
	Inner
	Catalog *Catalog
}

// Call returns the call of the real tool. Other calls are those of the inner dialect.
func (d Dialect) Call(c llm.ToolCall) (llm.ToolCall, error) {
	if c.Name != Call || len(d.Catalog.byName) == 0 {
		return d.Inner.Call(c)
	}
	var args struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal([]byte(c.Arguments), &args) != nil || args.Tool == "" {
		return d.Inner.Call(c) // the tool reports the mistake
	}
	if d.Catalog.byName[args.Tool] == nil {
		return c, d.Catalog.unknown(args.Tool)
	}
	inner := string(args.Arguments)
	var text string
	if json.Unmarshal(args.Arguments, &text) == nil && json.Valid([]byte(text)) { // some models write the object as a string
		inner = text
	}
	if inner = strings.TrimSpace(inner); inner == "" || inner == "null" {
		inner = "{}"
	}
	c.Name, c.Arguments = args.Tool, inner
	return c, nil
}
