package openai

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
)

// chatMessage is a message of a request. Content is a string, a list of parts, or nil for none.
type chatMessage struct {
	Role             string           `json:"role"`
	Content          any              `json:"content,omitzero"`
	Name             string           `json:"name,omitzero"`
	ReasoningContent string           `json:"reasoning_content,omitzero"`
	ReasoningDetails []jsontext.Value `json:"reasoning_details,omitempty"`
	ToolCalls        []chatCall       `json:"tool_calls,omitempty"`
	ToolCallID       string           `json:"tool_call_id,omitzero"`
}

type chatPart struct {
	Type         string     `json:"type"`
	Text         *string    `json:"text,omitzero"`
	Image        *chatImage `json:"image_url,omitzero"`
	File         *chatFile  `json:"file,omitzero"`
	CacheControl *chatCache `json:"cache_control,omitzero"`
}

type (
	chatImage struct {
		URL string `json:"url"`
	}
	chatFile struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	}
	chatCache struct {
		Type string `json:"type"`
	}
	chatCall struct {
		ID       string         `json:"id"`
		Type     string         `json:"type"`
		Function chatCalled     `json:"function"`
		Extra    jsontext.Value `json:"extra_content,omitempty"`
	}
	chatCalled struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// messages returns the messages of a request.
func (c *Chat) messages(system string, all []llm.Message) []chatMessage {
	p := &c.o.Profile
	out := make([]chatMessage, 0, len(all)+1)
	if system != "" {
		role := "system"
		if p.Developer {
			role = "developer"
		}
		out = append(out, chatMessage{Role: role, Content: system})
	}
	for i, m := range all {
		switch m.Role {
		case llm.RoleUser:
			if p.AnswerToResult && i > 0 && all[i-1].Role == llm.RoleTool {
				out = append(out, chatMessage{Role: "assistant", Content: "I see."})
			}
			out = append(out, chatMessage{Role: "user", Content: chatParts(m.Content)})
		case llm.RoleAssistant:
			out = append(out, c.assistant(m))
		case llm.RoleTool:
			result := chatMessage{Role: "tool", Content: texts(m.Content), ToolCallID: m.CallID}
			if p.ResultNames {
				result.Name = m.Tool
			}
			out = append(out, result)
		}
	}
	return out
}

// assistant returns an answer as it goes back.
func (c *Chat) assistant(m llm.Message) chatMessage {
	p := &c.o.Profile
	out := chatMessage{Role: "assistant"}
	var thoughts []string
	for _, part := range m.Content {
		switch part := part.(type) {
		case llm.Thinking:
			if p.ReasoningBack == ReasoningDetails {
				out.ReasoningDetails = append(out.ReasoningDetails, reasoningDetails(part.Opaque)...)
			} else {
				thoughts = append(thoughts, part.Text)
			}
		case llm.ToolCall:
			out.ToolCalls = append(out.ToolCalls, chatCall{
				ID: part.ID, Type: "function", Function: chatCalled{part.Name, part.Arguments}, Extra: extraContent(part.Opaque),
			})
		}
	}
	out.ReasoningContent = strings.Join(thoughts, "\n\n")
	if p.ReasoningNeeded && len(out.ToolCalls) > 0 {
		out.ReasoningContent = cmp.Or(out.ReasoningContent, " ")
	}
	if text := texts(m.Content); text != "" || len(out.ToolCalls) == 0 || p.EmptyContent {
		out.Content = text
	}
	return out
}

// texts joins the texts of a message. One string is what every server takes.
func texts(c llm.Content) string {
	var all []string
	for _, p := range c {
		if t, ok := p.(llm.Text); ok && t.Text != "" {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// chatParts returns the content of a user's message: a string where it is all text, else a list.
func chatParts(c llm.Content) any {
	parts := make([]chatPart, 0, len(c))
	plain := true
	for _, p := range c {
		switch p := p.(type) {
		case llm.Text:
			parts = append(parts, chatText(p.Text))
		case llm.Image:
			plain = false
			parts = append(parts, chatPart{Type: "image_url", Image: &chatImage{dataURL(p.MIME, p.Data)}})
		case llm.Document:
			plain = false
			parts = append(parts, chatPart{Type: "file", File: &chatFile{cmp.Or(p.Name, "document.pdf"), dataURL(p.MIME, p.Data)}})
		}
	}
	if plain {
		return texts(c)
	}
	return parts
}

func chatText(s string) chatPart { return chatPart{Type: "text", Text: &s} }

// mark puts the marks of Anthropic's prompt cache on the system prompt, which has the tools before it, on the last message, and on
// the one that was the last in the request before.
func mark(messages []chatMessage, policy llm.CachePolicy) {
	moving := 0
	if policy.Marks(llm.CacheMessages) {
		moving = 2
	}
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		switch {
		case i == 0 && (m.Role == "system" || m.Role == "developer"):
			if policy.Marks(llm.CacheSystem) {
				markLast(m)
			}
		case moving > 0 && (m.Role == "user" || m.Role == "tool") && (i == len(messages)-1 || messages[i+1].Role == "assistant"):
			markLast(m)
			moving--
		}
	}
}

// markLast marks the last text of a message.
func markLast(m *chatMessage) {
	if s, ok := m.Content.(string); ok {
		m.Content = []chatPart{chatText(s)}
	}
	parts, _ := m.Content.([]chatPart)
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Type == "text" {
			parts[i].CacheControl = &chatCache{"ephemeral"}
			return
		}
	}
}
