package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// maxImage is how many bytes an image may have so that its base64 stays below 5 MB.
const maxImage = 5 << 20 / 4 * 3

// rules returns the parts that the model accepts.
func (c *Client) rules(req *llm.Request) fit.Rules {
	return fit.Rules{
		Images:       c.model.Images,
		Documents:    c.model.Documents,
		ResultImages: true,
		MaxImage:     maxImage,
		NoCalls:      c.model.NoTools || len(req.Tools) == 0 && c.schemaMode(req) != schemaByTool, // the API wants the tools that calls are of
		Thinking: func(model string, t llm.Thinking) (llm.Thinking, bool) {
			return t, c.own(model) && (t.Signature != "" || redacted(t.Opaque) != "")
		},
	}
}

// own reports whether the thinking of a model ("provider/model") is this one's or of its kind. Some providers, such as Vertex, have
// models of other makers too, and a request with a foreign signature is refused.
func (c *Client) own(author string) bool {
	id, ok := strings.CutPrefix(author, c.model.Provider+"/")
	return ok && isClaude(id) == isClaude(c.model.ID)
}

func isClaude(id string) bool { return strings.Contains(strings.ToLower(id), "claude") }

// redactedThinking is the stored form of encrypted thinking.
type redactedThinking struct {
	Type string `json:"type"` // redacted_thinking
	Data string `json:"data"`
}

// redacted returns the data of redacted thinking, or nothing.
func redacted(opaque json.RawMessage) string {
	var r redactedThinking
	if len(opaque) == 0 || wire.Unmarshal(opaque, &r) != nil || r.Type != "redacted_thinking" {
		return ""
	}
	return r.Data
}

// messages converts a conversation. The API has two roles only: results are the beginning of the next user message.
func messages(conversation []llm.Message) []message {
	var out []message
	for _, m := range conversation {
		role := "user"
		var blocks []block
		switch m.Role {
		case llm.RoleAssistant:
			role, blocks = "assistant", answerBlocks(m.Content)
		case llm.RoleTool:
			blocks = []block{resultBlock(m)}
		default:
			blocks = contentBlocks(m.Content)
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			continue
		}
		out = append(out, message{Role: role, Content: blocks})
	}
	for i := range out {
		out[i].Content = freeImages(out[i].Content)
	}
	return out
}

// answerBlocks converts an answer of the assistant. The API requires thinking first and never last: if the parts around it
// cannot be sent, answerBlocks leaves out the rest of the thinking too.
func answerBlocks(c llm.Content) []block {
	for isThinking(c[len(c)-1]) {
		c = c[:len(c)-1] // this ends: no answer is only thinking
	}
	blocks := make([]block, 0, len(c))
	begins := isThinking(c[0])
	for _, p := range c {
		switch p := p.(type) {
		case llm.Text:
			blocks = append(blocks, block{Type: "text", Text: p.Text})
		case llm.Thinking:
			if begins {
				blocks = append(blocks, thinkingBlock(p))
			}
		case llm.ToolCall:
			blocks = append(blocks, block{Type: "tool_use", ID: p.ID, Name: p.Name, Input: jsontext.Value(p.Arguments)})
		}
	}
	return blocks
}

func isThinking(p llm.Part) bool {
	_, ok := p.(llm.Thinking)
	return ok
}

func thinkingBlock(t llm.Thinking) block {
	if data := redacted(t.Opaque); data != "" {
		return block{Type: "redacted_thinking", Redacted: data}
	}
	return block{Type: "thinking", Thinking: &t.Text, Signature: t.Signature}
}

// contentBlocks returns the content of a user message or of a result.
func contentBlocks(c llm.Content) []block {
	blocks := make([]block, 0, len(c))
	for _, p := range c {
		switch p := p.(type) {
		case llm.Text:
			blocks = append(blocks, block{Type: "text", Text: p.Text})
		case llm.Image:
			blocks = append(blocks, block{Type: "image", Source: &source{"base64", p.MIME, p.Data}})
		case llm.Document:
			blocks = append(blocks, block{Type: "document", Title: p.Name, Source: &source{"base64", p.MIME, p.Data}})
		}
	}
	return blocks
}

func resultBlock(m llm.Message) block {
	return block{Type: "tool_result", CallID: m.CallID, Content: contentBlocks(m.Content), IsError: m.IsError}
}

// freeImages moves images and documents out of failed results, which may have only text, to the end of all results.
func freeImages(blocks []block) []block {
	results := 0
	var free []block
	for results < len(blocks) && blocks[results].Type == "tool_result" {
		r := &blocks[results]
		results++
		if !r.IsError {
			continue
		}
		var kept []block
		for _, b := range r.Content {
			if b.Type != "text" {
				free = append(free, b)
				b = block{Type: "text", Text: "[the " + b.Type + " follows after the results]"}
			}
			kept = append(kept, b)
		}
		r.Content = kept
	}
	if free == nil {
		return blocks
	}
	out := append(blocks[:results:results], free...)
	return append(out, blocks[results:]...)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
