package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// The names of the tools that stand for all others.
const (
	Find = "find_tools"
	Call = "call_tool"
)

// Group is the tools of one connection.
type Group struct {
	Name  string // of the connection, such as that of an MCP server
	Tools []tool.Tool
	Off   bool // the model neither gets nor finds the tools; a call of one fails by itself, with the reason
}

// Catalog is the tools of connections for one agent. It never changes, and is safe for concurrent use.
type Catalog struct {
	groups []Group
	byName map[string]tool.Tool
	off    map[string]bool // names of tools of groups that are off
	hidden bool
	index  func() *index
}

// New returns the catalog of groups whose descriptions may take at most so many tokens of each request. If two groups have a tool of the same
// name, the first one counts.
func New(most int, groups ...Group) *Catalog {
	c := &Catalog{groups: slices.Clone(groups), byName: map[string]tool.Tool{}, off: map[string]bool{}}
	var specs []llm.Tool
	for _, g := range c.groups {
		for _, t := range g.Tools {
			if spec := t.Spec(); c.byName[spec.Name] == nil {
				c.byName[spec.Name] = t
				if g.Off {
					c.off[spec.Name] = true
					continue
				}
				specs = append(specs, spec)
			}
		}
	}
	if c.hidden = size(specs) > most; c.hidden {
		for name, t := range c.byName {
			c.byName[name] = explained{t}
		}
	}
	c.groups = slices.DeleteFunc(c.groups, func(g Group) bool { return g.Off })
	c.index = sync.OnceValue(func() *index { return newIndex(specs) })
	return c
}

// size estimates the tokens of descriptions, rather too many than too few.
func size(specs []llm.Tool) int {
	const bytesPerToken = 3
	n := 0
	for _, s := range specs {
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	return n / bytesPerToken
}

// Hides reports whether the model gets the name of a tool only from [Find], or not at all.
func (c *Catalog) Hides(name string) bool { return c.off[name] || c.hidden && c.byName[name] != nil }

// Tools returns all tools of the groups, sorted by name, and [Find] and [Call] if the catalog hides them.
func (c *Catalog) Tools() []tool.Tool {
	byName := maps.Clone(c.byName)
	if c.hidden {
		byName[Find], byName[Call] = c.find(), c.call()
	}
	all := make([]tool.Tool, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

type query struct {
	Query string `json:"query" jsonschema:"words of what the tool does, or exact names separated by commas"`
	Limit int    `json:"limit,omitzero" min:"1" max:"20" jsonschema:"most tools to return, default 5"`
}

const (
	usual      = 5        // tools that a search returns
	mostText   = 1 << 10  // bytes of a description in a result
	mostSchema = 8 << 10  // bytes of a schema in a result
	mostResult = 24 << 10 // bytes of a result
	mostNames  = 500      // bytes of the names of groups in the description
)

// Found is the details of a call of [Find].
type Found struct {
	Tools []string `json:"tools"`
}

func (c *Catalog) find() tool.Tool {
	text := fmt.Sprintf("Finds tools of connected services by what they do, and returns their schemas. Call them with %s. There are %d tools: %s.", Call, len(c.byName)-len(c.off), c.named())
	return tool.New(Find, text, tool.Nothing[query], func(_ context.Context, q query, _ tool.Report) (tool.Result, error) {
		if q.Limit == 0 {
			q.Limit = usual
		}
		var b strings.Builder
		var found Found
		for _, spec := range c.index().search(q.Query, q.Limit) {
			entry := describe(spec)
			if b.Len()+len(entry) > mostResult && len(found.Tools) > 0 {
				fmt.Fprintf(&b, "Others also fit, but exceed the size of a result. Search for less.\n")
				break
			}
			b.WriteString(entry)
			found.Tools = append(found.Tools, spec.Name)
		}
		if len(found.Tools) == 0 {
			return tool.TextResult("No tool fits. The groups of tools are: "+c.named()+". Search with other words.").With("no tool", found), nil
		}
		return tool.TextResult(b.String()).With(tool.Count(len(found.Tools), "tool"), found), nil
	}, tool.WithTitle(func(q query) string { return q.Query }))
}

// named lists the groups with the numbers of their tools.
func (c *Catalog) named() string {
	var b strings.Builder
	for i, g := range c.groups {
		part := fmt.Sprintf("%s (%d)", tool.Line(g.Name), len(g.Tools))
		if b.Len()+len(part) > mostNames {
			fmt.Fprintf(&b, " and %d more", len(c.groups)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(part)
	}
	return b.String()
}

func describe(spec llm.Tool) string {
	_, last := tool.Part(spec.Description, 0, mostText)
	schema := string(spec.Schema)
	if len(schema) > mostSchema {
		schema = "too long to show; the arguments are " + strings.Join(properties(spec.Schema), ", ")
	}
	return fmt.Sprintf("## %s\n%s\nSchema: %s\n\n", spec.Name, spec.Description[:last], schema)
}

type wrapped struct {
	Tool      string         `json:"tool" jsonschema:"exact name, as find_tools returns it"`
	Arguments map[string]any `json:"arguments,omitzero" jsonschema:"arguments of the tool, by its schema"`
}

// dispatcher is [Call] for agents whose dialect does not unwrap calls, see [Dialect].
type dispatcher struct {
	tool.Tool
	catalog *Catalog
}

func (c *Catalog) call() tool.Tool {
	return dispatcher{catalog: c, Tool: tool.New(Call, "Calls a tool that "+Find+" returned.", nil,
		func(context.Context, wrapped, tool.Report) (tool.Result, error) { return tool.Result{}, nil })}
}

// Prepare prepares the call of the real tool, under its name.
func (d dispatcher) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	own, err := d.Tool.Prepare(ctx, arguments)
	if err != nil {
		return nil, err
	}
	var args wrapped
	if err := json.Unmarshal(own.Arguments, &args); err != nil {
		return nil, err
	}
	t, ok := d.catalog.byName[args.Tool]
	if !ok {
		return nil, d.catalog.unknown(args.Tool)
	}
	if args.Arguments == nil {
		args.Arguments = map[string]any{}
	}
	inner, err := json.Marshal(args.Arguments)
	if err != nil {
		return nil, err
	}
	call, err := t.Prepare(ctx, string(inner))
	if err != nil {
		return nil, err
	}
	if call.As == "" {
		call.As = args.Tool
	}
	call.Arguments = own.Arguments
	return call, nil
}

// unknown is the error of a name that no tool has, for the model.
func (c *Catalog) unknown(name string) error {
	var near []string
	for _, spec := range c.index().search(name, usual) {
		near = append(near, spec.Name)
	}
	hint := "use " + Find
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return tool.Codef("tool.unknown", "there is no tool named %q: %s", tool.Line(name), hint)
}

// explained is a hidden tool. Its errors have its schema, which the model may have lost with a part of the conversation.
type explained struct{ tool.Tool }

func (e explained) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	call, err := e.Tool.Prepare(ctx, arguments)
	spec := e.Spec()
	if _, wrong := errors.AsType[*tool.ArgumentsError](err); wrong && len(spec.Schema) <= mostSchema {
		err = fmt.Errorf("%w\nThe schema of %s is %s", err, spec.Name, spec.Schema)
	}
	return call, err
}
