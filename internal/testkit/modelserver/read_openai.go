package modelserver

import (
	"encoding/base64"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

func readChat(r *Request, v value) {
	if model := v.get("model").str(); model != "" {
		r.Model = model
	}
	r.Stream = v.get("stream").boolean()
	r.MaxTokens = int(v.get("max_tokens").integer(0, unbounded) + v.get("max_completion_tokens").integer(0, unbounded))
	for _, t := range v.get("tools").items() {
		r.Tools = append(r.Tools, readFunction(t.get("function")))
	}
	names := map[string]string{}
	for _, m := range v.get("messages").items() {
		own := llm.Message{Role: llm.Role(m.get("role").str()), Content: readParts(m.get("content"))}
		switch own.Role {
		case "system", "developer":
			r.System += own.Text()
			continue
		case llm.RoleTool:
			own.CallID = m.get("tool_call_id").str()
			own.Tool = names[own.CallID]
		case llm.RoleAssistant:
			for _, name := range []string{"reasoning_content", "reasoning"} {
				if s := m.get(name).str(); s != "" {
					own.Content = append(llm.Content{llm.Thinking{Text: s}}, own.Content...)
				}
			}
		}
		for _, c := range m.get("tool_calls").items() {
			f := c.get("function")
			own.Content = append(own.Content, llm.ToolCall{ID: c.get("id").str(), Name: f.get("name").str(), Arguments: f.get("arguments").str()})
			names[c.get("id").str()] = f.get("name").str()
		}
		r.add(own)
	}
}

func readFunction(f value) llm.Tool {
	return llm.Tool{
		Name: f.get("name").str(), Description: f.get("description").str(), Schema: f.get("parameters").raw(),
		Grammar: f.get("format").get("definition").str(),
	}
}

// readParts reads the content of both protocols of OpenAI.
func readParts(v value) llm.Content {
	if s, ok := v.v.(string); ok {
		return llm.Content{llm.Text{Text: s}}
	}
	var out llm.Content
	for _, p := range v.items() {
		switch p.get("type").str() {
		case "text", "input_text", "output_text":
			out = append(out, llm.Text{Text: p.get("text").str()})
		case "refusal":
			out = append(out, llm.Text{Text: p.get("refusal").str()})
		case "image_url":
			mime, data := dataURL(p.get("image_url").get("url").str())
			out = append(out, llm.Image{MIME: mime, Data: data})
		case "input_image":
			mime, data := dataURL(p.get("image_url").str())
			out = append(out, llm.Image{MIME: mime, Data: data})
		case "file":
			f := p.get("file")
			mime, data := dataURL(f.get("file_data").str())
			out = append(out, llm.Document{MIME: mime, Name: f.get("filename").str(), Data: data})
		case "input_file":
			mime, data := dataURL(p.get("file_data").str())
			out = append(out, llm.Document{MIME: mime, Name: p.get("filename").str(), Data: data})
		}
	}
	return out
}

func dataURL(s string) (mime string, data []byte) {
	mime, rest, _ := strings.Cut(strings.TrimPrefix(s, "data:"), ";base64,")
	data, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return mime, nil
	}
	return mime, data
}

func readResponses(r *Request, v value) {
	r.Model = v.get("model").str()
	r.Stream = v.get("stream").boolean()
	r.MaxTokens = int(v.get("max_output_tokens").integer(0, unbounded))
	r.System = v.get("instructions").str()
	for _, t := range v.get("tools").items() {
		r.Tools = append(r.Tools, readFunction(t))
	}
	input := v.get("input")
	if s, ok := input.v.(string); ok {
		r.add(llm.UserText(s))
		return
	}
	names := map[string]string{}
	for _, item := range input.items() {
		switch item.get("type").str() {
		case "reasoning":
			r.extend(llm.Thinking{Text: texts(item.get("summary")), Signature: item.get("encrypted_content").str()})
		case "function_call":
			id := item.get("call_id").str()
			names[id] = item.get("name").str()
			r.extend(llm.ToolCall{ID: id, Name: names[id], Arguments: item.get("arguments").str()})
		case "custom_tool_call":
			id := item.get("call_id").str()
			names[id] = item.get("name").str()
			r.extend(llm.ToolCall{ID: id, Name: names[id], Arguments: item.get("input").str()})
		case "function_call_output", "custom_tool_call_output":
			id := item.get("call_id").str()
			r.add(llm.Message{Role: llm.RoleTool, CallID: id, Tool: names[id], Content: readParts(item.get("output"))})
		default:
			r.readItem(item)
		}
	}
}

// readItem reads a message of the Responses protocol.
func (r *Request) readItem(item value) {
	content := readParts(item.get("content"))
	switch role := item.get("role").str(); role {
	case "system", "developer":
		r.System += content.Text()
	case "assistant":
		r.extend(content...)
	default:
		r.add(llm.Message{Role: llm.Role(role), Content: content})
	}
}

// extend adds parts to the assistant's message at the end, or begins one.
func (r *Request) extend(parts ...llm.Part) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleAssistant {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, parts...)
		return
	}
	r.add(llm.Message{Role: llm.RoleAssistant, Content: parts})
}
