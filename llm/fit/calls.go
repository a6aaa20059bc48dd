package fit

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// maxName is the longest name of a tool that every protocol takes.
const maxName = 64

// call returns a call and its result as they can be sent: with an ID that keeps the rules and is unique in the conversation, with
// a name, and with arguments that are an object.
func (f *fitter) call(model string, c llm.ToolCall, result llm.Message) (llm.ToolCall, llm.Message) {
	c.ID = f.id(c.ID)
	c.Name = Name(c.Name)
	c.Arguments = Arguments(c.Arguments)
	c.Truncated = false
	if !f.opaque(model) {
		c.Opaque = nil
	}
	result.CallID, result.Tool = c.ID, c.Name
	return c, result
}

// id returns an ID like the given one that keeps the rules and is not taken.
func (f *fitter) id(id string) string {
	if f.rules.ExactID > 0 {
		return f.exactID(id)
	}
	limit := f.rules.MaxID
	if limit <= 0 {
		limit = 64
	}
	allowed := f.rules.IDs
	if allowed == nil {
		allowed = wordByte
	}
	id = replace(id, limit, allowed)
	if id == "" {
		id = "call"
	}
	last, again := f.tried[id]
	if !again {
		last = attempt{id, 1}
	}
	for f.ids[last.id] {
		last.n++
		suffix := strconv.Itoa(last.n)
		last.id = id[:min(len(id), limit-len(suffix))] + suffix
	}
	return f.give(id, last)
}

// attempt is an ID that replaced one already in use, after n attempts. The next call with the same ID continues from n:
// providers that restart their numbering with each answer reuse a few IDs thousands of times.
type attempt struct {
	id string
	n  int
}

// give records an ID as taken, for the one that the call wanted.
func (f *fitter) give(wanted string, a attempt) string {
	f.ids[a.id], f.tried[wanted] = true, a
	return a.id
}

// exactID returns the ID itself where it keeps the rule and is not taken, else one that is made from it.
func (f *fitter) exactID(id string) string {
	n := f.rules.ExactID
	exact := len(id) == n && !strings.ContainsFunc(id, func(r rune) bool { return r > 'z' || !alphanumeric(byte(r)) })
	last, again := f.tried[id]
	if !again {
		last = attempt{id, 0}
	}
	for ; !exact || f.ids[last.id]; last.n++ {
		sum := sha256.Sum256([]byte(strconv.Itoa(last.n) + " " + last.id))
		digits := new(big.Int).SetBytes(sum[:]).Text(62)
		last.id, exact = (digits + strings.Repeat("0", n))[:n], true
	}
	return f.give(id, last)
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Name returns the name of a tool in a form that every protocol accepts: at most 64 bytes of a-z A-Z 0-9 _ -.
func Name(name string) string {
	name = replace(name, maxName, wordByte)
	if name == "" {
		return "unnamed"
	}
	return name
}

func wordByte(c byte) bool {
	return alphanumeric(c) || c == '_' || c == '-'
}

func replace(s string, limit int, allowed func(byte) bool) string {
	s = s[:min(len(s), limit)]
	for i := range len(s) {
		if !allowed(s[i]) {
			fixed := []byte(s)
			for j := i; j < len(fixed); j++ {
				if !allowed(fixed[j]) {
					fixed[j] = '_'
				}
			}
			return string(fixed)
		}
	}
	return s
}

// maxDepth is how deep arguments may be nested. Servers refuse much deeper ones, and so does the encoder of the request.
const maxDepth = 500

// depth returns how deep valid JSON is nested.
func depth(s string) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}', c == ']':
			now--
		}
	}
	return deepest
}

// Arguments returns the arguments of a call as a JSON object: as they are when they are one, else as the one value of an object, so that
// the model sees what it wrote.
func Arguments(s string) string {
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "":
		return "{}"
	case strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) && depth(trimmed) <= maxDepth:
		return s
	}
	quoted, err := json.Marshal(map[string]string{"malformed_arguments": s})
	if err != nil {
		return "{}"
	}
	return string(quoted)
}
