package llm

import "strings"

// Role is the role of a [Message] in the conversation. The system prompt is no message: it is [Request.System].
type Role string

// The roles of a message.
const (
	RoleUser      Role = "user"      // a person, or a program in a person's place
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // the result of one tool call
)

// StopReason says why an answer ended.
type StopReason string

// The reasons for which an answer ends.
const (
	StopEnd     StopReason = "end"        // the model finished by itself
	StopCalls   StopReason = "tool_calls" // the model waits for the results of its calls
	StopLength  StopReason = "length"     // the output limit cut the answer
	StopRefused StopReason = "refused"    // the model or a content filter declined
	StopAborted StopReason = "aborted"    // the caller left before the end; the message has the part received so far
)

// Message is one contribution to a conversation. Which fields are used depends on Role. A Message is treated as immutable
// once it was handed over: share it, do not change it.
//
// JSON: {"role","content":[part...],"model","stop","usage","call_id","tool","error"}, empty fields left out.
type Message struct {
	Role    Role    `json:"role"`
	Content Content `json:"content"`

	// Of an answer (RoleAssistant).
	Model string     `json:"model,omitzero"` // "provider/model" that wrote it
	Stop  StopReason `json:"stop,omitzero"`
	Usage Usage      `json:"usage,omitzero"`

	// Of a tool result (RoleTool).
	CallID  string `json:"call_id,omitzero"` // ToolCall.ID of the call that it answers
	Tool    string `json:"tool,omitzero"`    // name of the tool
	IsError bool   `json:"error,omitzero"`   // the call failed, was denied, skipped or cancelled
}

// UserText returns a user's message of one text.
func UserText(text string) Message {
	return Message{Role: RoleUser, Content: Content{Text{Text: text}}}
}

// AssistantText returns an answer of one text that ended by itself.
func AssistantText(text string) Message {
	return Message{Role: RoleAssistant, Content: Content{Text{Text: text}}, Stop: StopEnd}
}

// ToolText returns the result of call with one text.
func ToolText(call ToolCall, text string, isError bool) Message {
	return Message{
		Role: RoleTool, Content: Content{Text{Text: text}},
		CallID: call.ID, Tool: call.Name, IsError: isError,
	}
}

// Text returns the texts of the message, joined by nothing.
func (m Message) Text() string { return m.Content.Text() }

// Calls returns the tool calls of the message in their order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Content {
		if c, ok := p.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Empty reports whether the message has nothing that a model or a person could use: no parts, or only blank texts.
func (m Message) Empty() bool {
	for _, p := range m.Content {
		switch p := p.(type) {
		case Text:
			if strings.TrimSpace(p.Text) != "" {
				return false
			}
		case Thinking:
			if p.Text != "" || len(p.Opaque) > 0 || p.Signature != "" {
				return false
			}
		default:
			return false
		}
	}
	return true
}
