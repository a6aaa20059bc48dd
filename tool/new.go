package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tenon-agent/tenon/llm"
)

// New makes a tool from a struct of arguments and a function.
//
// The schema that the model is told comes from A: the json tag names a field (omitempty or omitzero: it may be left out), the
// jsonschema tag describes it, and these tags limit it:
//
//	enum:"a,b"   one of these strings
//	min:"1"      the least number, or the least length of a string or a list
//	max:"600"    the greatest, likewise
//
// Prepare checks arguments against the schema, tells all problems at once as an [*ArgumentsError], and decodes what is right
// into A. What is wrong but can mean only one thing is accepted: a single value for a list of one and the other way round,
// numbers, lists and objects as JSON within a string, null for what is left out, a code fence around the whole.
//
// effects says what a call with these arguments would touch; it changes nothing, and its error refuses the call. Nil: nothing.
// run does it. Both must be safe for concurrent use.
//
// New panics when name, description or A cannot be told to a model: that is a mistake of the programmer.
func New[A any](
	name, description string,
	effects func(ctx context.Context, args A) (Effects, error),
	run func(ctx context.Context, args A, report Report) (Result, error),
	options ...Option[A],
) Tool {
	t := &typed[A]{effects: effects, run: run, schema: schemaFor[A](name)}
	for _, option := range options {
		option(t)
	}
	description = strings.TrimSpace(description)
	switch {
	case !validName(name):
		panic(fmt.Sprintf("tool: the name %q is not 1 to 64 of a-z A-Z 0-9 _ -", name))
	case description == "":
		panic(fmt.Sprintf("tool: %s has no description", name))
	case run == nil:
		panic(fmt.Sprintf("tool: %s has no function to run", name))
	}
	schema, err := encodeSchema(t.schema)
	if err != nil {
		panic(fmt.Sprintf("tool: the schema of %s: %v", name, err))
	}
	t.spec = llm.Tool{Name: name, Description: description, Schema: schema}
	return t
}

// Option adds to a tool that [New] makes.
type Option[A any] func(*typed[A])

// WithPreview gives the calls of a tool a Preview: preview returns what a call with these arguments would change, and changes
// nothing. It must be safe for concurrent use.
func WithPreview[A any](preview func(ctx context.Context, args A) (string, error)) Option[A] {
	return func(t *typed[A]) { t.preview = preview }
}

// validName reports whether every provider takes the name: 1 to 64 of a-z A-Z 0-9 _ -. No regular expression, for one with
// such a count takes a fifth of a millisecond to compile at every start.
func validName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

type typed[A any] struct {
	spec    llm.Tool
	schema  *jsonschema.Schema
	effects func(context.Context, A) (Effects, error)
	run     func(context.Context, A, Report) (Result, error)
	preview func(context.Context, A) (string, error)
}

func (t *typed[A]) Spec() llm.Tool { return t.spec }

func (t *typed[A]) Prepare(ctx context.Context, arguments string) (*Call, error) {
	canonical, err := check(t.spec.Name, t.schema, arguments)
	if err != nil {
		return nil, err
	}
	var args A
	if err := json.Unmarshal(canonical, &args); err != nil {
		// The schema is weaker than the type: a number beyond an int8, a text that is no time.
		return nil, &ArgumentsError{Tool: t.spec.Name, Problems: []string{err.Error()}}
	}
	call := &Call{
		Arguments: canonical,
		Run: func(ctx context.Context, report Report) (Result, error) {
			if report == nil {
				report = func(string) {}
			}
			return t.run(ctx, args, report)
		},
	}
	if t.preview != nil {
		call.Preview = func(ctx context.Context) (string, error) { return t.preview(ctx, args) }
	}
	if t.effects != nil {
		if call.Effects, err = t.effects(ctx, args); err != nil {
			return nil, err
		}
	}
	return call, nil
}
