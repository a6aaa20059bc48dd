package modelserver

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Rules are what some models of a protocol refuse beyond what all of them do, and what some servers accept. The zero value
// is the strictest common ground.
type Rules struct {
	NoPrefill         bool     // Anthropic, Bedrock: the last message must not be the assistant's
	NoTemperature     bool     // a temperature is refused, as reasoning models do
	AdaptiveThinking  bool     // Anthropic: a budget of thinking is refused
	BoundThinking     bool     // Anthropic: thinking is valid only after the prefix that preceded it, see Request.Dropped
	NoMaxTokens       bool     // OpenAI Chat: max_tokens is refused in favour of max_completion_tokens
	ThoughtSignatures bool     // Gemini: the first call of each answer in the current turn needs its thoughtSignature
	Extra             []string // names of fields that are accepted at any level although the protocol does not have them
}

// Check reports what a provider would refuse in the body of a request with status 400, or nil. When r is not nil, its
// headers and URL are checked as well. The error lists several problems, the first one first.
func Check(p Protocol, r *http.Request, body []byte) error { return Rules{}.Check(p, r, body) }

// Check is [Check] under these rules.
func (rules Rules) Check(p Protocol, r *http.Request, body []byte) error {
	found := &problems{rules: rules}
	root := parseBody(found, body)
	if r != nil {
		checkHeaders(root, p, r)
	}
	if len(found.list) > 0 && !root.set() {
		return found.err()
	}
	switch p {
	case Anthropic, AnthropicVertex:
		checkAnthropic(root, p)
	case OpenAIChat:
		checkChat(root, r)
	case OpenAIResponses:
		checkResponses(root)
	case Gemini, GeminiVertex:
		checkGemini(root, p)
	case Bedrock:
		checkBedrock(root)
	case Ollama:
		checkOllama(root)
	default:
		return fmt.Errorf("modelserver: unknown protocol %q", p)
	}
	return found.err()
}

func checkHeaders(root value, p Protocol, r *http.Request) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/json" {
		root.fail("Content-Type should be application/json, not %q", kind)
	}
	if p == Anthropic && r.Header.Get("Anthropic-Version") == "" {
		root.fail("anthropic-version: header is required")
	}
	if binding := root.get("thinking").get("block_binding"); binding.set() && !strings.Contains(r.Header.Get("Anthropic-Beta"), "thinking-binding-controls-") {
		binding.fail("This setting requires the value `thinking-binding-controls-2026-08-01` in the `anthropic-beta` header")
	}
	if p == GeminiVertex || p == AnthropicVertex {
		if r.Header.Get("X-Goog-Api-Key") != "" || r.Header.Get("X-Api-Key") != "" {
			root.fail("Vertex takes a bearer token, no API key")
		}
	}
	if (p == Gemini || p == GeminiVertex) && strings.HasSuffix(r.URL.Path, ":streamGenerateContent") &&
		r.URL.Query().Get("alt") != "sse" {
		root.fail("alt=sse is missing: the answer would be one JSON list")
	}
}

// pairs follows tool calls to their results, by id.
type pairs struct {
	seen map[string]bool
	open []string
}

func newPairs() *pairs { return &pairs{seen: map[string]bool{}} }

// call notes a call. An id may be used once.
func (p *pairs) call(at value, id string) {
	if p.seen[id] {
		at.fail("ids of tool calls must be unique: %q is used twice", id)
	}
	p.seen[id] = true
	p.open = append(p.open, id)
}

// result notes a result and reports whether its call waits for one.
func (p *pairs) result(id string) bool {
	for i, open := range p.open {
		if open == id {
			p.open = append(p.open[:i:i], p.open[i+1:]...)
			return true
		}
	}
	return false
}

// checkStrictSchema checks a schema that the provider enforces token by token: each object forbids further properties and,
// where allRequired, demands all of its own.
func checkStrictSchema(v value, allRequired bool) {
	if !v.isObject() {
		return
	}
	if kind, ok := v.get("type").v.(string); ok && kind == "object" || v.get("properties").set() {
		if further, ok := v.get("additionalProperties").v.(bool); !ok || further {
			v.fail("for type object, additionalProperties must be set to false")
		}
		required := map[string]bool{}
		for _, name := range v.get("required").strings() {
			required[name] = true
		}
		for name := range members(v.get("properties")) {
			if allRequired && !required[name] {
				v.fail("required should list every property; %q is missing", name)
			}
		}
	}
	for _, member := range members(v.get("properties")) {
		checkStrictSchema(member, allRequired)
	}
	for _, name := range []string{"$defs", "definitions"} {
		for _, member := range members(v.get(name)) {
			checkStrictSchema(member, allRequired)
		}
	}
	checkStrictSchema(v.get("items"), allRequired)
	for _, option := range v.get("anyOf").items() {
		checkStrictSchema(option, allRequired)
	}
}

// members returns the members of an object as values.
func members(v value) map[string]value {
	object, _ := v.v.(map[string]any)
	out := make(map[string]value, len(object))
	for name := range object {
		out[name] = v.get(name)
	}
	return out
}

// What providers accept as names and IDs.
var (
	name64       = pattern(`^[a-zA-Z0-9_-]{1,64}$`)
	name128      = pattern(`^[a-zA-Z0-9_-]{1,128}$`)
	anthropicID  = pattern(`^[a-zA-Z0-9_-]+$`)
	bedrockID    = pattern(`^[a-zA-Z0-9_.:-]{1,64}$`)
	documentName = pattern(`^[a-zA-Z0-9\-()\[\]]+( [a-zA-Z0-9\-()\[\]]+)*$`)
	notEmpty     = pattern(`(?s)^.+$`)
	chatID       = pattern(`^.{1,40}$`)
	responsesID  = pattern(`^.{1,64}$`)
	geminiName   = pattern(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
)

// pattern returns a function that compiles an expression at its first use: a long session checks thousands of names.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// unbounded is a limit that no number of a request reaches.
const unbounded = 1 << 53
