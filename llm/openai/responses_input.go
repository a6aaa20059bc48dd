package openai

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// The items of an input. They have no IDs of their own but those of reasoning: with store false the server looks up
// nothing, and an ID that it is to look up makes it refuse the request.

type respMessage struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Phase   string `json:"phase,omitzero"` // whether the model meant it as a remark or as the answer
	Content any    `json:"content"`        // a string or []respPart
}

type respCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// respFreeCall is a call of a free-form tool.
type respFreeCall struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Input  string `json:"input"`
}

type respOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"` // a string or []respPart
}

// respThought is an item of reasoning as the server wrote it, without the fields that it does not accept back.
type respThought map[string]jsontext.Value

type respPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitzero"`
	ImageURL string `json:"image_url,omitzero"`
	Detail   string `json:"detail,omitzero"`
	Filename string `json:"filename,omitzero"`
	FileData string `json:"file_data,omitzero"`
}

// respInput returns the items that a conversation is. The messages come from [fit.Messages].
func respInput(messages []llm.Message) []any {
	in := respInputs{ids: make(map[string]bool), free: make(map[string]bool)}
	for _, m := range messages {
		switch m.Role {
		case llm.RoleUser:
			in.add(nil, respMessage{Type: "message", Role: "user", Content: respParts(m.Content)})
		case llm.RoleAssistant:
			in.assistant(m)
		case llm.RoleTool:
			kind := "function_call_output"
			if in.free[m.CallID] {
				kind = "custom_tool_call_output"
			}
			in.add(nil, respOutput{Type: kind, CallID: m.CallID, Output: respOutputOf(m)})
		}
	}
	return in.items
}

type respInputs struct {
	items []any
	ids   map[string]bool // of the reasoning that is there: the same twice is refused
	free  map[string]bool // IDs of the calls of free-form tools
}

// assistant adds the items of an answer. Reasoning precedes the text or call that followed it. The server refuses reasoning without
// a successor, so of several in a row assistant sends only the last.
func (in *respInputs) assistant(m llm.Message) {
	var thought respThought // the one that waits for what follows it
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Thinking:
			if t, ok := respThoughtOf(p); ok {
				thought = t
			}
		case llm.Text:
			if strings.TrimSpace(p.Text) != "" {
				in.add(thought, respMessage{Type: "message", Role: "assistant", Phase: respPhase(p.Opaque), Content: p.Text})
				thought = nil
			}
		case llm.ToolCall:
			if input, ok := freeInput(p); ok {
				in.free[p.ID] = true
				in.add(thought, respFreeCall{Type: "custom_tool_call", CallID: p.ID, Name: p.Name, Input: input})
			} else {
				in.add(thought, respCall{Type: "function_call", CallID: p.ID, Name: p.Name, Arguments: p.Arguments})
			}
			thought = nil
		}
	}
}

// freeOpaque marks a call of a free-form tool.
const freeOpaque = `{"type":"custom_tool_call"}`

// freeInput returns the text of a call of a free-form tool.
func freeInput(c llm.ToolCall) (string, bool) {
	var args struct {
		Input *string `json:"input"`
	}
	if string(c.Opaque) != freeOpaque || wire.Unmarshal([]byte(c.Arguments), &args) != nil || args.Input == nil {
		return "", false
	}
	return *args.Input, true
}

// The arguments of a call of a free-form tool begin and end so.
const freeBegin, freeEnd = `{"input":"`, `"}`

// freeArguments returns the text of a call of a free-form tool as arguments.
func freeArguments(input string) string {
	data, _ := wire.Marshal(struct {
		Input string `json:"input"`
	}{strings.ToValidUTF8(input, "\ufffd")}) // a string can always be written
	return string(data)
}

// add adds an item, and before it the thought that led to it unless that is there already: the same twice is refused.
func (in *respInputs) add(thought respThought, item any) {
	if id := respString(thought["id"]); thought != nil && (id == "" || !in.ids[id]) {
		in.ids[id] = true
		in.items = append(in.items, thought)
	}
	in.items = append(in.items, item)
}

// respThoughtOf returns the reasoning item that a thinking part came from, if it is complete.
func respThoughtOf(t llm.Thinking) (respThought, bool) {
	var item respThought
	err := wire.Unmarshal(t.Opaque, &item)
	return item, err == nil && respString(item["type"]) == "reasoning" && item.whole()
}

// maxRespID is the longest ID that OpenAI takes. Some gateways make longer ones, which they do not take back either.
const maxRespID = 64

// respOpaque returns what of an item of reasoning is kept to be sent back, or nothing when it means nothing without the server's
// memory.
func respOpaque(raw jsontext.Value) []byte {
	var item respThought
	if wire.Unmarshal(raw, &item) != nil || !item.whole() {
		return nil
	}
	delete(item, "status")
	for name, v := range item {
		if s := string(v); s == "null" || name == "content" && s == "[]" || name == "id" && len(respString(v)) > maxRespID {
			delete(item, name)
		}
	}
	if item["summary"] == nil {
		item["summary"] = jsontext.Value("[]") // it is required
	}
	data, err := wire.Marshal(item)
	if err != nil {
		return nil
	}
	return data
}

// whole reports whether the item has the reasoning in it: encrypted, or as text where the model is an open one.
func (t respThought) whole() bool {
	content := string(t["content"])
	return respString(t["encrypted_content"]) != "" || strings.HasPrefix(content, "[") && content != "[]"
}

// respPhased has the stored fields of a message other than its text.
type respPhased struct {
	Phase string `json:"phase"`
}

func respPhase(opaque []byte) string {
	var kept respPhased
	if len(opaque) == 0 || wire.Unmarshal(opaque, &kept) != nil {
		return ""
	}
	return kept.Phase
}

// respOutputOf returns the result of a call: its texts, or its parts when there is more than text.
func respOutputOf(m llm.Message) any {
	var texts []string
	for _, p := range m.Content {
		t, ok := p.(llm.Text)
		if !ok {
			return respParts(m.Content)
		}
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, "\n")
}

func respParts(c llm.Content) []respPart {
	parts := make([]respPart, 0, len(c))
	for _, p := range c {
		switch p := p.(type) {
		case llm.Text:
			parts = append(parts, respPart{Type: "input_text", Text: p.Text})
		case llm.Image:
			parts = append(parts, respPart{Type: "input_image", ImageURL: dataURL(p.MIME, p.Data), Detail: "auto"})
		case llm.Document:
			name := p.Name
			if name == "" {
				name = "document.pdf"
			}
			parts = append(parts, respPart{Type: "input_file", Filename: name, FileData: dataURL(p.MIME, p.Data)})
		}
	}
	return parts
}

func dataURL(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// respString returns a JSON string, or nothing for any other value.
func respString(v jsontext.Value) string {
	var s string
	if len(v) == 0 || v[0] != '"' || wire.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
