package tokens

import "github.com/tenon-agent/tenon/llm"

// Tokens around the parts of a request, for all families.
const (
	beginning = 3 // of the answer
	toolFrame = 8 // around the description of a tool
)

// Message is [Family.Message] for an unknown family.
func Message(m llm.Message) int { return Unknown.Message(m) }

// Tools estimates the tokens of the descriptions of tools, with unchanged schemas.
func Tools(tools []llm.Tool) int { return Unknown.described(tools) }

// Request is [Family.Request] for an unknown family.
func Request(req *llm.Request) int { return Unknown.Request(req) }

// Message estimates the tokens of m in a request to a model of the family. The unit is a token of o200k_base; [Scale.Tokens] converts it
// to tokens of the model. Message counts thinking for families that read it again, although their providers may omit that of earlier turns.
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

// Request estimates the tokens of req for a model of the family, in the unit of [Family.Message].
func (f Family) Request(req *llm.Request) int {
	h := f.of()
	own := h.base
	if len(req.Tools) > 0 || len(req.Schema) > 0 { // families with a prompt about tools receive a schema as a tool
		own += h.tools
	}
	n := beginning + int(float64(own)/h.factor) + f.described(req.Tools)
	if req.System != "" {
		n += h.frame + Text(req.System)
	}
	if f != Gemini { // it does not count the schema
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
	return 0 // clients do not send it
}

// encrypted is the number of bytes of encrypted thinking for one token of its text: base64 makes four bytes of three, and the data has
// more than the text.
const encrypted = 6
