package tokens

import "github.com/tenon-agent/tenon/llm"

// What stands around the parts of a request, in tokens. OpenAI documents 3 to 4 for a message (its cookbook, "How to count
// tokens with tiktoken"); the others are near that.
const (
	frame     = 4  // a message
	callFrame = 8  // a call, besides its name and arguments
	toolFrame = 8  // the description of a tool
	answer    = 3  // the beginning of the answer that is asked for
	schema    = 16 // the demand for a structured answer
)

// Message is [Family.Message] of an unknown family.
func Message(m llm.Message) int { return Unknown.Message(m) }

// Tools returns about how many tokens the descriptions of tools cost; what a family adds because there are any is not in it.
func Tools(tools []llm.Tool) int {
	n := 0
	for _, t := range tools {
		n += toolFrame + Text(t.Name) + Text(t.Description) + Text(string(t.Schema))
	}
	return n
}

// Request is [Family.Request] of an unknown family.
func Request(req *llm.Request) int { return Unknown.Request(req) }

// Message returns about how many tokens m costs in a request to a model of the family, in tokens of o200k_base but for images.
// Thinking is counted, though a provider may leave it out when it is of an earlier turn.
func (f Family) Message(m llm.Message) int {
	n := frame
	for _, p := range m.Content {
		n += f.part(p)
	}
	return n
}

// Request returns about how many tokens req costs when it is sent to a model of the family, with the same unit as
// [Family.Message]. [Scale.Tokens] makes tokens of the model of it.
func (f Family) Request(req *llm.Request) int {
	n := answer
	if req.System != "" {
		n += frame + Text(req.System)
	}
	if len(req.Tools) > 0 {
		n += f.of().tools + Tools(req.Tools)
	}
	if len(req.Schema) > 0 {
		n += schema + Text(string(req.Schema))
	}
	for _, m := range req.Messages {
		n += f.Message(m)
	}
	return n
}

func (f Family) part(p llm.Part) int {
	switch p := p.(type) {
	case llm.Text:
		return Text(p.Text)
	case llm.Thinking:
		return max(Text(p.Text), len(p.Opaque)/encrypted)
	case llm.ToolCall:
		return callFrame + Text(p.Name) + Text(p.Arguments)
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
