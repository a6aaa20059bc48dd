package session

import "github.com/tenon-agent/tenon/llm"

// Author returns the speaker of a message. If the message has none, the model or the tool that it names wrote it. A message in the role of the
// user without a speaker is not from a person: Author returns Tenon.
func (m Message) Author() Speaker {
	switch {
	case m.Speaker.Kind != "":
		return m.Speaker
	case m.Role == llm.RoleAssistant:
		return Speaker{Kind: SpeakerModel, Name: m.Model}
	case m.Role == llm.RoleTool:
		return Speaker{Kind: SpeakerTool, Name: m.Tool}
	case m.Role == llm.RoleUser:
		return Speaker{Kind: SpeakerTenon}
	default:
		return Speaker{}
	}
}

// ByPerson reports whether a person wrote the message.
func (m Message) ByPerson() bool { return m.Author().Kind == SpeakerPerson }
