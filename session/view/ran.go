package view

import (
	"encoding/json"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Ran returns the result of a call that a person made as the message that enters the conversation. The message has the role of the user,
// because no answer has the call, and its speaker is the tool. Its first part describes the call to the model; the others are those of the
// result.
func Ran(c llm.ToolCall, result session.Message) session.Message {
	var command struct{ Command string }
	what := c.Name + " " + c.Arguments
	if json.Unmarshal([]byte(c.Arguments), &command) == nil && command.Command != "" {
		what = "$ " + command.Command
	}
	m := result
	m.Role, m.CallID, m.Tool, m.Speaker = llm.RoleUser, c.ID, c.Name, session.Speaker{Kind: session.SpeakerTool, Name: c.Name}
	m.Content = slices.Insert(slices.Clone(m.Content), 0, llm.Part(llm.Text{Text: "The user ran this:\n" + what + "\n\n"}))
	return m
}

// Unframed returns the result of a message that [Ran] made, and reports whether it made the message.
func Unframed(m session.Message) (session.Message, bool) {
	if m.Role != llm.RoleUser || m.CallID == "" || m.Author().Kind != session.SpeakerTool || len(m.Content) == 0 {
		return m, false
	}
	m.Role, m.Content = llm.RoleTool, m.Content[1:]
	return m, true
}

// unframed returns messages for the calls that people made and that have no result, because the process ended while they ran.
func unframed(started []session.CallStarted, answered map[string]bool) (bodies []session.Body) {
	for _, s := range slices.Backward(started) {
		if !answered[s.Call] {
			c := llm.ToolCall{ID: s.Call, Name: s.Tool, Arguments: string(s.Arguments)}
			bodies = append(bodies, Ran(c, Result(c, session.OutcomeUnknown,
				"The outcome is unknown: the process ended while it ran. It may have happened in part or completely.")))
		}
	}
	return bodies
}
