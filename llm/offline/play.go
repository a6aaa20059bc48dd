package offline

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// play is one execution of the user's instructions. It begins with the first instruction for every request. The first calls
// without a result in the conversation become pending; the execution then continues with empty results, and its report does
// not count.
type play struct {
	tools   map[string]map[string]bool // offered tools and their arguments; nil if the schema lists none
	history map[string][]result        // results by call, in the order of the calls
	taken   map[string]int             // the number of them that this execution has used
	mute    bool                       // this answer must not have calls
	place   place
	data    string // the standard input that came with the instructions
	started bool   // the conversation has calls after the user's message
	asked   int    // calls so far, with those that are pending
	pending []call
	changed []string // files, by this execution
	passed  []string // commands, after the last change
}

// maxCalls bounds the calls that one message may cause.
const maxCalls = 400

// call is a call of a tool that the execution needs.
type call struct {
	tool string
	args []arg
}

// arg is one argument. Tenon omits an optional argument if it is zero or if the tool does not know it.
type arg struct {
	name     string
	value    any
	optional bool
}

// result is the result of a call.
type result struct {
	text    string
	failed  bool
	missing bool // there is no such tool, or no result
}

func newPlay(tools []llm.Tool, after []llm.Message) *play {
	p := &play{tools: map[string]map[string]bool{}, history: map[string][]result{}, taken: map[string]int{}}
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
		for _, c := range m.Calls() {
			p.started = true
			r, ok := results[c.ID]
			if !ok {
				r = absent("no result came")
			}
			k := key(c.Name, c.Arguments)
			p.history[k] = append(p.history[k], r)
		}
	}
	return p
}

func absent(text string) result { return result{text: text, failed: true, missing: true} }

// properties returns the names of the arguments that a schema lists, or nil if it lists none.
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

// ask returns the results of calls, in their order. Calls without a result become pending. While calls are pending, every
// result is a failure. The result of a tool that the request does not offer says so.
func (p *play) ask(calls ...call) []result {
	results := make([]result, len(calls))
	waiting := len(p.pending) > 0
	for i, c := range calls {
		results[i] = absent("the result is pending")
		if waiting {
			continue
		}
		p.asked++
		k := key(c.tool, c.encode(p.tools[c.tool]))
		switch n := p.taken[k]; {
		case n < len(p.history[k]):
			results[i] = p.history[k][n]
			p.taken[k]++
			p.note(c, results[i])
		case p.mute:
			results[i].text = "no more calls are allowed here"
		case !p.offers(c):
			results[i].text = notOffered(c.tool)
		case p.asked > maxCalls:
			results[i].text = "too many calls for one message; ask for less at once"
		default:
			p.pending = append(p.pending, c)
		}
	}
	return results
}

// one is ask for a single call.
func (p *play) one(c call) result { return p.ask(c)[0] }

func notOffered(tool string) string {
	text := "the tool " + tool + " is not offered here"
	switch tool {
	case "shell", "write", "edit":
		text += "; running again with --yes permits changes and commands"
	}
	return text
}

// encode returns the arguments as JSON: of the optional ones, those that the tool knows. Without a list, all are known.
func (c call) encode(known map[string]bool) string {
	var b strings.Builder
	for _, a := range c.args {
		if a.optional && (known != nil && !known[a.name] || reflect.ValueOf(a.value).IsZero()) {
			continue
		}
		b.WriteString("," + quoteJSON(a.name) + ":" + quoteJSON(a.value))
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// quoteJSON encodes a string, a number or a truth value. It does not escape <, > and &.
func quoteJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
