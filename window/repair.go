package window

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// lost is what a model is told of a call whose result the journal does not have.
const lost = "The result of this call was lost."

// Repair turns a conversation as the journal has it into one that a model can be sent: every call is followed by exactly
// one result, in the order of the calls; results that belong to no call, second results, and messages with nothing in
// them are left out. An answer that was cut off is kept without its calls, which never ran; at the end it is left out, for
// the answer that is asked for replaces it.
func Repair(events []session.Event) []llm.Message {
	out := make([]llm.Message, 0, len(events))
	for i, e := range events {
		m := e.Body.(session.Message).Message
		switch {
		case m.Role != llm.RoleUser && m.Role != llm.RoleAssistant:
			continue // results that belong to an answer are taken with it
		case m.Role == llm.RoleAssistant && m.Stop == llm.StopAborted:
			m = withoutCalls(m)
		}
		if m.Empty() {
			continue
		}
		out = append(out, m)
		if m.Role == llm.RoleAssistant {
			for _, c := range m.Calls() {
				out = append(out, resultOf(c, events[i+1:]))
			}
		}
	}
	for n := len(out); n > 0 && out[n-1].Role == llm.RoleAssistant && out[n-1].Stop == llm.StopAborted; n = len(out) {
		out = out[:n-1]
	}
	return out
}

// resultOf is the result of a call: the first that stands for it before the next answer, or one that says that it was lost.
func resultOf(c llm.ToolCall, after []session.Event) llm.Message {
	for _, e := range after {
		m := e.Body.(session.Message)
		if m.Role == llm.RoleAssistant {
			break
		}
		if m.Role != llm.RoleTool || m.CallID != c.ID {
			continue
		}
		if m.Empty() {
			m.Content = llm.Content{llm.Text{Text: "(no output)"}}
		}
		return m.Message
	}
	return llm.ToolText(c, lost, true)
}

func withoutCalls(m llm.Message) llm.Message {
	var kept llm.Content
	for _, p := range m.Content {
		switch p.(type) {
		case llm.ToolCall, llm.Thinking: // the thinking is bound to what followed it
		default:
			kept = append(kept, p)
		}
	}
	m.Content = kept
	return m
}
