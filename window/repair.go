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
	messages, _ := repair(events)
	return messages
}

// repair is Repair, and says of each message where it comes from.
func repair(events []session.Event) ([]llm.Message, []Block) {
	out, blocks := make([]llm.Message, 0, len(events)), make([]Block, 0, len(events))
	for i, e := range events {
		said := e.Body.(session.Message)
		m := said.Message
		switch {
		case m.Role != llm.RoleUser && m.Role != llm.RoleAssistant:
			continue // results that belong to an answer are taken with it
		case m.Role == llm.RoleAssistant && m.Stop == llm.StopAborted:
			m = withoutCalls(m)
		}
		if m.Empty() {
			continue
		}
		why := Said
		if said.Source == fromContext {
			why = Told
		}
		turn := m.Role == llm.RoleUser && byPerson(said.Source)
		out, blocks = append(out, m), append(blocks, Block{Why: why, Entries: []session.ID{e.ID}, turn: turn})
		if m.Role == llm.RoleAssistant {
			for _, c := range m.Calls() {
				result, from, ok := resultOf(c, events[i+1:])
				b := Block{Why: Said, Entries: []session.ID{from}}
				if !ok {
					b = Block{Why: Mended, Entries: []session.ID{e.ID}, Note: "the result of call " + c.ID + " is missing"}
				}
				out, blocks = append(out, result), append(blocks, b)
			}
		}
	}
	n := len(out)
	for n > 0 && out[n-1].Role == llm.RoleAssistant && out[n-1].Stop == llm.StopAborted {
		n--
	}
	return out[:n], blocks[:n]
}

// resultOf is the result of a call and its entry: the first that stands for it before the next answer, or one that says that it was
// lost, which is no entry.
func resultOf(c llm.ToolCall, after []session.Event) (_ llm.Message, entry session.ID, ok bool) {
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
		return m.Message, e.ID, true
	}
	return llm.ToolText(c, lost, true), "", false
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
