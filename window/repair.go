package window

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// lost is the text for the model in place of a result that the journal lacks.
const lost = "The result of this call was lost."

// Repair turns a conversation of the journal into one that providers accept. Every call is followed by exactly one result, in the order
// of the calls. Repair omits results without a call, second results, and empty messages. It keeps an answer that was cut off without its
// calls, which never ran. At the end it omits such an answer, because the next answer replaces it.
func Repair(events []session.Event) []llm.Message {
	messages, _ := repair(events, make([]llm.Message, 0, len(events)), nil)
	return messages
}

// repair is Repair. It appends the messages, and the origin of each.
func repair(events []session.Event, out []llm.Message, blocks []Block) ([]llm.Message, []Block) {
	begin := len(out)
	for i, e := range events {
		said := e.Body.(session.Message)
		m := Spoken(said)
		switch {
		case m.Role != llm.RoleUser && m.Role != llm.RoleAssistant:
			continue // the answer takes its results with it
		case m.Role == llm.RoleAssistant && m.Stop == llm.StopAborted:
			m = withoutCalls(m)
		}
		if m.Empty() {
			continue
		}
		why := Said
		if said.Source == fromContext {
			why = Context
		}
		out, blocks = append(out, m), append(blocks, Block{Why: why, Entries: []session.ID{e.ID}, turn: said.ByPerson()})
		if m.Role == llm.RoleAssistant {
			for _, c := range m.Calls() {
				result, from, ok := resultOf(c, events[i+1:])
				b := Block{Why: Said, Entries: []session.ID{from}}
				if !ok {
					b = Block{Why: Repaired, Entries: []session.ID{e.ID}, Note: "the result of call " + c.ID + " is missing"}
				}
				out, blocks = append(out, result), append(blocks, b)
			}
		}
	}
	n := len(out)
	for n > begin && out[n-1].Role == llm.RoleAssistant && out[n-1].Stop == llm.StopAborted {
		n--
	}
	return out[:n], blocks[:n]
}

// resultOf is the first result of a call before the next answer, and its entry. If there is none, it is a text that says so.
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
		case llm.ToolCall, llm.Thinking: // providers bind thinking to what follows it
		default:
			kept = append(kept, p)
		}
	}
	m.Content = kept
	return m
}
