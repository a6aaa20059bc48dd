package sdkconformance

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"

	"github.com/tenon-agent/tenon/llm"
)

// These are the texts of the conversation that every SDK sends in its own types and every client of ours makes of conversation().
const (
	system    = "You are careful & exact."
	question  = "What is in this picture, and in <a.txt>?"
	thought   = "I should look at both."
	signature = "c2lnbmVk"
	looking   = "I look."
	answer    = "A dot, and nothing else."
	more      = "Go on."
)

// picture returns a PNG of one dot.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// conversation returns a conversation with all that a model can be sent, for a model that wrote the answers in it itself.
func conversation(model llm.Model) *llm.Request {
	ours := model.Ref()
	thinking := llm.Thinking{Text: thought, Signature: signature}
	read := llm.ToolCall{ID: "call_1", Name: "read", Arguments: `{"path":"a.txt"}`}
	list := llm.ToolCall{ID: "call_2", Name: "list", Arguments: `{}`}
	content := llm.Content{thinking, llm.Text{Text: looking}, read, list}
	switch model.Provider {
	case "openai":
		content[0] = llm.Thinking{Text: thought, Opaque: json.RawMessage(
			`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"` + thought + `"}],"encrypted_content":"` + signature + `"}`)}
	case "gemini":
		read.Opaque = json.RawMessage(`{"thoughtSignature":"` + signature + `"}`)
		content = llm.Content{llm.Thinking{Text: thought}, llm.Text{Text: looking}, read, list}
	}
	return &llm.Request{
		System: system, Settings: llm.Settings{MaxTokens: 16000, Thinking: llm.ThinkLow},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: llm.Content{llm.Text{Text: question}, llm.Image{MIME: "image/png", Data: picture()}}},
			{Role: llm.RoleAssistant, Model: ours, Stop: llm.StopCalls, Content: content},
			llm.ToolText(read, "first", false),
			llm.ToolText(list, "no such directory", true),
			{Role: llm.RoleAssistant, Model: ours, Stop: llm.StopEnd, Content: llm.Content{llm.Text{Text: answer}}},
			llm.UserText(more),
		},
		Tools: []llm.Tool{
			{Name: "list", Description: "Lists files.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
			{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(
				`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		},
	}
}
