package modelserver

import (
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

func readAnthropic(r *Request, v value) {
	if r.Protocol == Anthropic {
		r.Model = v.get("model").str()
	}
	r.Stream = v.get("stream").boolean() || r.Protocol == AnthropicVertex && strings.HasSuffix(r.Path, ":streamRawPredict")
	r.MaxTokens = int(v.get("max_tokens").integer(0, unbounded))
	r.System = texts(v.get("system"))
	for _, t := range v.get("tools").items() {
		r.Tools = append(r.Tools, llm.Tool{
			Name: t.get("name").str(), Description: t.get("description").str(), Schema: t.get("input_schema").raw(),
		})
	}
	names := map[string]string{}
	for _, m := range v.get("messages").items() {
		own := llm.Message{Role: llm.Role(m.get("role").str())}
		content := m.get("content")
		if content.isString() {
			own.Content = llm.Content{llm.Text{Text: content.str()}}
		}
		for _, b := range content.items() {
			if b.get("type").str() == "tool_result" {
				id := b.get("tool_use_id").str()
				r.add(llm.Message{
					Role: llm.RoleTool, CallID: id, Tool: names[id], IsError: b.get("is_error").boolean(), Content: anthropicParts(b.get("content")),
				})
			} else if p := anthropicPart(b); p != nil {
				own.Content = append(own.Content, p)
			}
		}
		for _, c := range own.Calls() {
			names[c.ID] = c.Name
		}
		r.add(own)
	}
}

// texts returns a string, or the texts of a list of blocks.
func texts(v value) string {
	if s, ok := v.v.(string); ok {
		return s
	}
	var out []string
	for _, b := range v.items() {
		if s, ok := b.get("text").v.(string); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

func anthropicParts(v value) llm.Content {
	if s, ok := v.v.(string); ok {
		return llm.Content{llm.Text{Text: s}}
	}
	var out llm.Content
	for _, b := range v.items() {
		if p := anthropicPart(b); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func anthropicPart(b value) llm.Part {
	switch source := b.get("source"); b.get("type").str() {
	case "text":
		return llm.Text{Text: b.get("text").str()}
	case "thinking":
		return llm.Thinking{Text: b.get("thinking").str(), Signature: b.get("signature").str()}
	case "redacted_thinking":
		return llm.Thinking{Opaque: b.get("data").raw()}
	case "tool_use":
		return llm.ToolCall{ID: b.get("id").str(), Name: b.get("name").str(), Arguments: string(b.get("input").raw())}
	case "image":
		return llm.Image{MIME: source.get("media_type").str(), Data: source.get("data").base64()}
	case "document":
		return llm.Document{MIME: source.get("media_type").str(), Name: b.get("title").str(), Data: source.get("data").base64()}
	}
	return nil
}
