package family

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/spelling"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
)

// Dialect is the tools of an agent as the models of one family know them. It never changes, and is safe for concurrent use.
type Dialect struct {
	family models.Family
	known  map[string]llm.Tool // all tools, by their canonical names
	forms  []form              // of the family, for the tools that exist
}

// New returns the dialect of tools for a family. The zero Family leaves the tools as they are.
func New(f models.Family, tools []llm.Tool) *Dialect {
	dialect := &Dialect{family: f, known: make(map[string]llm.Tool, len(tools))}
	for _, t := range tools {
		dialect.known[t.Name] = t
	}
	for _, form := range forms[f] {
		if _, ok := dialect.known[form.tool]; ok {
			dialect.forms = append(dialect.forms, form)
		}
	}
	return dialect
}

// Offer returns the definitions of some of the tools for a request, sorted by name, without those that the family has no use for.
func (f *Dialect) Offer(tools []llm.Tool) (out []llm.Tool) {
	for _, t := range tools {
		forms := f.formsOf(t.Name)
		for _, o := range forms {
			if o.name != "" {
				out = append(out, f.offered(o))
			}
		}
		if forms == nil {
			t.Description = f.words(t.Description, form{})
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (f *Dialect) formsOf(tool string) (all []form) {
	for _, o := range f.forms {
		if o.tool == tool {
			all = append(all, o)
		}
	}
	return all
}

// Name returns the family's name for a tool; empty if the family is not offered the tool, or only for a part of its use.
func (f *Dialect) Name(tool string) string {
	i := slices.IndexFunc(f.forms, func(o form) bool { return o.tool == tool })
	switch {
	case i < 0:
		return f.known[tool].Name
	case f.forms[i].only != "":
		return ""
	}
	return f.forms[i].name
}

// Call returns the canonical form of a call: the name of a tool, and arguments by their names in its schema. It reads the names of every
// family, in any case. Arguments that it cannot read stay as they are, because the tool reports mistakes in them. The error is for the model:
// an [*UnknownError], or contradictory arguments.
func (f *Dialect) Call(c llm.ToolCall) (llm.ToolCall, error) {
	if _, exact := f.known[c.Name]; exact && f.family == "" {
		return c, nil
	}
	in, ok := f.meant(c.Name)
	if !ok {
		return c, f.unknown(c.Name)
	}
	args, ok := object(c.Arguments)
	if !ok {
		c.Name = in.tool
		if text := strings.TrimSpace(c.Arguments); in.tool == "patch" && strings.HasPrefix(text, patchBegin) {
			c.Arguments = encode(map[string]any{"patch": straighten(text)})
		}
		return c, nil
	}
	r := reader{dialect: f, tool: in.tool, args: args}
	if err := r.read(in); err != nil {
		return c, err
	}
	c.Name, c.Arguments = r.tool, encode(r.args)
	return c, nil
}

// meant returns the tool that a name of any family means.
func (f *Dialect) meant(name string) (incoming, bool) {
	if _, ok := f.known[name]; ok {
		return incoming{tool: name}, true
	}
	name = name[strings.LastIndexAny(name, ".:/")+1:] // such as functions.shell
	in, ok := names[plain(name)]
	if !ok {
		for own := range f.known {
			if plain(own) == plain(name) {
				return incoming{tool: own}, true
			}
		}
		return incoming{}, false
	}
	_, ok = f.known[in.tool]
	return in, ok
}

// UnknownError is the error of a call of a tool that does not exist.
type UnknownError struct {
	Name string // as the model wrote it
	Hint string // the nearest tool with its arguments, or the names of all tools
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no tool named %q; %s", e.Name, e.Hint)
}

// Code returns "tool.unknown".
func (e *UnknownError) Code() string { return "tool.unknown" }

// mostNamed limits the names of tools in an error: connections can have hundreds.
const mostNamed = 60

// unknown returns the error of a name that means no tool.
func (f *Dialect) unknown(name string) error {
	var all []string
	var known []llm.Tool
	for tool, t := range f.known {
		if !slices.Contains(rare, tool) {
			known = append(known, t)
		}
	}
	known = f.Offer(known)
	byPlain := make(map[string]string)
	for _, t := range known {
		all = append(all, t.Name)
		byPlain[plain(t.Name)] = t.Name
	}
	for other, in := range names {
		if own := f.Name(in.tool); own != "" && byPlain[other] == "" {
			byPlain[other] = own
		}
	}
	near := ""
	for i, most := 0, len(name)/3; i <= most && near == ""; i++ { // the nearest spelling of any family
		for _, other := range slices.Sorted(maps.Keys(byPlain)) {
			if spelling.Distance(plain(name), other) == i {
				near = byPlain[other]
				break
			}
		}
	}
	hint := "the tools are: " + strings.Join(all[:min(len(all), mostNamed)], ", ")
	if more := len(all) - mostNamed; more > 0 {
		hint += fmt.Sprintf(", and %d more", more)
	}
	if i := slices.IndexFunc(known, func(t llm.Tool) bool { return t.Name == near }); i >= 0 {
		hint = "did you mean " + near + signature(known[i].Schema) + "? " + strings.ToUpper(hint[:1]) + hint[1:]
	}
	return &UnknownError{Name: name, Hint: hint}
}

// Messages returns a conversation with the calls of models of other families under the names of this one. It keeps the calls of its own
// family as the model wrote them, and those that have no other form or have a name of this family already. It changes nothing in place.
func (f *Dialect) Messages(messages []llm.Message) []llm.Message {
	out := messages
	for i, m := range messages {
		if m.Role != llm.RoleAssistant || f.family == "" || f.own(m.Model) {
			continue
		}
		var content llm.Content
		for j, p := range m.Content {
			c, ok := p.(llm.ToolCall)
			if !ok {
				continue
			}
			renamed, ok := f.rename(c)
			if !ok {
				continue
			}
			if content == nil {
				content = slices.Clone(m.Content)
			}
			content[j] = renamed
		}
		if content == nil {
			continue
		}
		if &out[0] == &messages[0] {
			out = slices.Clone(messages)
		}
		out[i].Content = content
	}
	return out
}

// own reports whether a model is of the family.
func (f *Dialect) own(ref string) bool {
	provider, id, ok := strings.Cut(ref, "/")
	if !ok {
		id = ref
	}
	return models.FamilyOf(llm.Model{Provider: provider, ID: id}) == f.family
}

// rename returns a call of another family as this family writes it.
func (f *Dialect) rename(c llm.ToolCall) (llm.ToolCall, bool) {
	if slices.ContainsFunc(f.forms, func(o form) bool { return o.name == c.Name }) {
		return c, false
	}
	canonical, err := f.Call(c)
	if err != nil || f.Name(canonical.Name) == "" {
		return c, false
	}
	args, ok := object(canonical.Arguments)
	if !ok {
		return c, false
	}
	c.Name, args = f.write(canonical.Name, args)
	c.Arguments, c.Opaque = encode(args), nil
	return c, true
}

// signature lists the arguments of a schema: (path, offset?, limit?).
func signature(schema json.RawMessage) string {
	var s struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(schema, &s) // a schema without a list requires nothing
	var all []string
	for _, p := range properties(schema) {
		name := p.name
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		all = append(all, name)
	}
	return "(" + strings.Join(all, ", ") + ")"
}
