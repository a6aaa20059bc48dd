package tokens

import "github.com/tenon-agent/tenon/llm"

// What stands around the parts of a request, in tokens, whatever the family.
const (
	beginning = 3 // of the answer that is asked for
	toolFrame = 8 // around the description of a tool
)

// Message is [Family.Message] of an unknown family.
func Message(m llm.Message) int { return Unknown.Message(m) }

// Tools returns about how many tokens the descriptions of tools have, with their schemas as they are.
func Tools(tools []llm.Tool) int { return Unknown.described(tools) }

// Request is [Family.Request] of an unknown family.
func Request(req *llm.Request) int { return Unknown.Request(req) }

// Message returns about how many tokens m costs in a request to a model of the family. The unit is a token of o200k_base;
// [Scale.Tokens] makes tokens of the model of it. Thinking is counted for
// families that read it again, though their providers may leave it out when it is of an earlier turn.
func (f Family) Message(m llm.Message) int {
	h := f.of()
	n := h.frame
	if m.Role == llm.RoleTool {
		n += h.wrap
	}
	for _, p := range m.Content {
		n += f.part(p)
	}
	return n
}

// Request returns about how many tokens req costs when it is sent to a model of the family, in the unit of [Family.Message].
func (f Family) Request(req *llm.Request) int {
	h := f.of()
	own := h.base
	if len(req.Tools) > 0 || len(req.Schema) > 0 { // a schema is sent as a tool where there is a prompt about tools
		own += h.tools
	}
	n := beginning + int(float64(own)/h.factor) + f.described(req.Tools)
	if req.System != "" {
		n += h.frame + Text(req.System)
	}
	if f != Gemini { // which does not count it
		n += f.schema(req.Schema)
	}
	for _, m := range req.Messages {
		n += f.Message(m)
	}
	return n
}

func (f Family) described(tools []llm.Tool) int {
	n := 0
	for _, t := range tools {
		n += toolFrame + Text(t.Name) + Text(t.Description) + f.schema(t.Schema)
	}
	return n
}

func (f Family) schema(json []byte) int {
	return int(float64(Text(string(json))) * f.of().schemas)
}

func (f Family) part(p llm.Part) int {
	switch p := p.(type) {
	case llm.Text:
		return Text(p.Text)
	case llm.Thinking:
		if !f.of().returns {
			return 0
		}
		return max(Text(p.Text), len(p.Opaque)/encrypted)
	case llm.ToolCall:
		return f.of().wrap + Text(p.Name) + Text(p.Arguments)
	case llm.Image:
		return f.Image(p)
	case llm.Document:
		return f.Document(p)
	}
	return 0 // no client sends it
}

// encrypted is the bytes of encrypted thinking for a token of what it hides: base64 makes four bytes of three, and there is
// more in it than the text.
const encrypted = 6
