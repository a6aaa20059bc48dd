package offline

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// play is one enactment of the user's instructions. It runs from their beginning for every request and stops at the first
// calls whose results do not stand in the conversation yet.
type play struct {
	tools   map[string]map[string]bool // offered tools and their arguments; nil arguments: not known
	history map[string][]result        // results by call, in the order in which they were asked for
	taken   map[string]int             // how many of them this enactment has used
	mute    bool                       // this answer must not have calls
	place   place
	data    string // came with the instructions on standard input
	started bool   // the conversation has calls since the user's message
	asked   int    // calls so far, played and pending
	totals  bool   // reading a file tells how many lines it has in all

	gap string // what the last search for places to change did not look at

	pending []call
}

// maxCalls bounds what one message may set in motion.
const maxCalls = 400

// call is a wish for a tool.
type call struct {
	tool string
	args []arg
}

// arg is one argument, encoded in the order given.
type arg struct {
	name     string
	value    any
	optional bool // left out when the tool does not know it
}

// result is what came of a call.
type result struct {
	text    string
	failed  bool
	missing bool // there is no such tool, or no such result
}

func newPlay(tools []llm.Tool, after []llm.Message) *play {
	p := &play{
		tools:   make(map[string]map[string]bool, len(tools)),
		history: make(map[string][]result),
		taken:   make(map[string]int),
	}
	for _, t := range tools {
		p.tools[t.Name] = properties(t.Schema)
	}
	results := make(map[string]result)
	for _, m := range after {
		if m.Role == llm.RoleTool {
			results[m.CallID] = result{text: m.Text(), failed: m.IsError}
		}
	}
	for _, m := range after {
		if m.Role != llm.RoleAssistant {
			continue
		}
		for _, c := range m.Calls() {
			p.started = true
			r, ok := results[c.ID]
			if !ok {
				r = result{text: "no result came", failed: true, missing: true}
			}
			k := key(c.Name, c.Arguments)
			p.history[k] = append(p.history[k], r)
		}
	}
	return p
}

// properties returns the names of the arguments that a schema lists, or nil when it lists none.
func properties(schema json.RawMessage) map[string]bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return nil
	}
	names := make(map[string]bool, len(s.Properties))
	for name := range s.Properties {
		names[name] = true
	}
	return names
}

func key(tool, arguments string) string { return tool + "\x00" + arguments }

// offers reports whether the request offers the tool with the arguments that c needs.
func (p *play) offers(c call) bool {
	known, ok := p.tools[c.tool]
	if !ok || known == nil {
		return ok
	}
	for _, a := range c.args {
		if !a.optional && !known[a.name] {
			return false
		}
	}
	return true
}

// ask returns the results of calls, in their order. It returns false when some are still to come: what is pending is the
// answer then, and the caller must return at once. A call of a tool that is not offered has a result that says so.
func (p *play) ask(calls ...call) ([]result, bool) {
	results := make([]result, len(calls))
	for i, c := range calls {
		p.asked++
		k := key(c.tool, p.encode(c))
		switch n := p.taken[k]; {
		case n < len(p.history[k]):
			results[i] = p.history[k][n]
			p.taken[k]++
		case p.mute:
			results[i] = result{text: "no more calls are allowed here", failed: true, missing: true}
		case !p.offers(c):
			results[i] = result{text: notOffered(c.tool), failed: true, missing: true}
		case p.asked > maxCalls:
			results[i] = result{text: "too many calls for one message; ask for less at once", failed: true, missing: true}
		default:
			p.pending = append(p.pending, c)
		}
	}
	if len(p.pending) > 0 {
		return nil, false
	}
	return results, true
}

// notOffered says that there is no such tool, and what would help.
func notOffered(tool string) string {
	text := "the tool " + tool + " is not offered here"
	switch tool {
	case "shell", "write", "edit":
		text += "; running again with --yes permits changes and commands"
	}
	return text
}

// one is ask for a single call.
func (p *play) one(c call) (result, bool) {
	r, ok := p.ask(c)
	if !ok {
		return result{}, false
	}
	return r[0], true
}

// encode returns the arguments of c as JSON, without those that the tool does not know.
func (p *play) encode(c call) string {
	known := p.tools[c.tool]
	var b strings.Builder
	b.WriteByte('{')
	for _, a := range c.args {
		if a.optional && known != nil && !known[a.name] {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(quoteJSON(a.name))
		b.WriteByte(':')
		b.WriteString(quoteJSON(a.value))
	}
	b.WriteByte('}')
	return b.String()
}

// quoteJSON encodes a string, a number or a truth value, with <, > and & as they are.
func quoteJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
