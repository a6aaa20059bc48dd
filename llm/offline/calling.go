package offline

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The tool that calls the tools which a request does not offer.
const toolCall = "call_tool"

// call calls any tool with the arguments that the person wrote.
func (p *play) call(in instruction) string {
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(in.content), &given); err != nil {
		return "The arguments of " + code(in.name) + " are not a JSON object: " + err.Error() + "."
	}
	names := slices.Sorted(maps.Keys(given))
	known, offered := p.tools[in.name]
	if i := slices.IndexFunc(names, func(name string) bool { return !known[name] }); known != nil && i >= 0 {
		return "The tool " + code(in.name) + " has no argument " + code(names[i]) + "; it has " + strings.Join(slices.Sorted(maps.Keys(known)), ", ") + "."
	}
	c := call{tool: in.name}
	for _, name := range names {
		c.args = append(c.args, arg{name, given[name], false})
	}
	if _, other := p.tools[toolCall]; !offered && other {
		c = call{toolCall, []arg{{"tool", in.name, false}, {"arguments", json.RawMessage(in.content), false}}}
	}
	r := p.one(c)
	if r.failed {
		return failure(r)
	}
	return code(in.name) + ":\n\n" + fenced(r.text)
}
