package window_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// events makes a conversation from words: "u:text" is a message of the user, "a:text+1+2" an answer with calls, "=1:text" a result, and
// "x:text+1" an answer that was cut off.
func events(words string) []session.Event {
	var out []session.Event
	for i, word := range strings.Fields(words) {
		who, rest, _ := strings.Cut(word, ":")
		said, calls, _ := strings.Cut(rest, "+")
		var m llm.Message
		switch {
		case who == "u":
			m = llm.UserText(said)
		case who[0] == '=':
			m = llm.ToolText(llm.ToolCall{ID: who[1:], Name: "tool"}, said, false)
		default:
			m = llm.AssistantText(said)
			for id := range strings.FieldsFuncSeq(calls, func(r rune) bool { return r == '+' }) {
				m.Content = append(m.Content, llm.ToolCall{ID: id, Name: "tool"})
			}
			if who == "x" {
				m.Stop = llm.StopAborted
			}
		}
		out = append(out, session.Event{Seq: int64(i + 1), Body: spoken(m)})
	}
	return out
}

// words is the inverse of events.
func words(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		said := strings.ReplaceAll(m.Text(), " ", "_")
		switch {
		case m.Role == llm.RoleUser:
			out = append(out, "u:"+said)
		case m.Role == llm.RoleTool:
			out = append(out, "="+m.CallID+":"+said)
		default:
			who := "a:"
			if m.Stop == llm.StopAborted {
				who = "x:"
			}
			for _, c := range m.Calls() {
				said += "+" + c.ID
			}
			out = append(out, who+said)
		}
	}
	return strings.Join(out, " ")
}

func TestRepair(t *testing.T) {
	const lost = "The_result_of_this_call_was_lost."
	tests := []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"nothing to fix", "u:a a:b+1+2 =1:x =2:y a:c", "u:a a:b+1+2 =1:x =2:y a:c"},
		{"swapped results", "u:a a:b+1+2 =2:y =1:x", "u:a a:b+1+2 =1:x =2:y"},
		{"a call without a result", "u:a a:b+1+2 =2:y u:c", "u:a a:b+1+2 =1:" + lost + " =2:y u:c"},
		{"a call at the end", "u:a a:b+1", "u:a a:b+1 =1:" + lost},
		{"a result without a call", "u:a =9:x a:b =8:y", "u:a a:b"},
		{"two results of one call", "u:a a:b+1 =1:x =1:y", "u:a a:b+1 =1:x"},
		{"a result after a message", "u:a a:b+1 u:c =1:x", "u:a a:b+1 =1:x u:c"},
		{"a result after the next answer", "u:a a:b+1 a:c =1:x", "u:a a:b+1 =1:" + lost + " a:c"},
		{"the same call ID in two answers", "u:a a:b+1 =1:x a:c+1 =1:y", "u:a a:b+1 =1:x a:c+1 =1:y"},
		{"an empty prompt", "u:a u: a:b", "u:a a:b"},
		{"an empty answer", "u:a a: u:b", "u:a u:b"},
		{"an empty result", "u:a a:b+1 =1:", "u:a a:b+1 =1:(no_output)"},
		{"a cut answer before new input", "u:a x:b+1 u:c", "u:a x:b u:c"},
		{"a cut answer with calls and results", "u:a x:b+1 =1:x u:c", "u:a x:b u:c"},
		{"a cut answer with calls only", "u:a x:+1 u:c", "u:a u:c"},
		{"a cut answer at the end", "u:a x:b", "u:a"},
		{"cut answers at the end", "u:a x:b x:c", "u:a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := words(window.Repair(events(test.in))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Repair omits the thinking of a cut answer with its calls, because its signature covers the calls.
func TestRepairOmitsThinkingOfACutAnswer(t *testing.T) {
	all := events("u:a x:b+1 u:c")
	m := all[1].Body.(session.Message)
	m.Content = append(llm.Content{llm.Thinking{Text: "x", Signature: "s"}}, m.Content...)
	all[1].Body = m
	if got := window.Repair(all)[1]; len(got.Content) != 1 || got.Text() != "b" {
		t.Errorf("kept: %+v", got.Content)
	}
}

// anyMessage is an arbitrary message, also one that no program writes.
var anyMessage = rapid.Custom(func(t *rapid.T) llm.Message {
	ids := rapid.SampledFrom([]string{"1", "2", "3", ""})
	part := rapid.Custom(func(t *rapid.T) llm.Part {
		text := rapid.SampledFrom([]string{"", " \n", "word", "\xff"}).Draw(t, "text")
		switch rapid.IntRange(0, 4).Draw(t, "part") {
		case 0:
			return llm.Thinking{Text: text}
		case 1, 2:
			return llm.ToolCall{ID: ids.Draw(t, "id"), Name: "tool", Arguments: text}
		case 3:
			return llm.Image{MIME: "image/png"}
		default:
			return llm.Text{Text: text}
		}
	})
	m := llm.Message{
		Role: rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, llm.RoleTool, "", "system"}).Draw(t, "role"),
		Stop: rapid.SampledFrom([]llm.StopReason{"", llm.StopEnd, llm.StopCalls, llm.StopLength, llm.StopAborted}).Draw(t, "stop"),
	}
	m.Content = rapid.SliceOfN(part, 0, 4).Draw(t, "content")
	if m.Role == llm.RoleTool {
		m.CallID = ids.Draw(t, "call")
	}
	if m.Role != llm.RoleAssistant { // only models make calls
		m.Content = slices.DeleteFunc(m.Content, func(p llm.Part) bool { _, call := p.(llm.ToolCall); return call })
	}
	return m
})

// Repair makes every conversation valid, whatever its messages and their order. It does not change a valid conversation.
func TestRepairMakesAnythingValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(anyMessage, 0, 12).Draw(t, "messages")
		all := make([]session.Event, len(in))
		for i, m := range in {
			all[i] = session.Event{Seq: int64(i + 1), Body: spoken(m)}
		}
		out := window.Repair(all)
		if problem := invalid(out); problem != "" {
			t.Fatalf("%s: %s\nof %s", problem, words(out), words(in))
		}
		all = nil
		for _, m := range out {
			all = append(all, session.Event{Body: spoken(m)})
		}
		if again := window.Repair(all); !reflect.DeepEqual(again, out) {
			t.Fatalf("the second repair gives %s, the first one %s", words(again), words(out))
		}
	})
}

// invalid is the reason why providers refuse messages; empty if they accept them.
func invalid(messages []llm.Message) string {
	var due []string // calls whose results must follow now
	for i, m := range messages {
		if m.Empty() {
			return fmt.Sprintf("message %d is empty", i)
		}
		if m.Role == llm.RoleTool {
			if len(due) == 0 || due[0] != m.CallID {
				return fmt.Sprintf("result %d has no call, or the wrong order", i)
			}
			due = due[1:]
			continue
		}
		if len(due) > 0 {
			return fmt.Sprintf("message %d precedes missing results", i)
		}
		if m.Role != llm.RoleUser && m.Role != llm.RoleAssistant {
			return fmt.Sprintf("message %d has no role", i)
		}
		for _, c := range m.Calls() {
			due = append(due, c.ID)
		}
		if len(due) > 0 && m.Stop == llm.StopAborted {
			return fmt.Sprintf("message %d has calls that were cut off", i)
		}
	}
	if len(due) > 0 {
		return "results are missing at the end"
	}
	if n := len(messages); n > 0 && messages[n-1].Stop == llm.StopAborted && messages[n-1].Role == llm.RoleAssistant {
		return "the last answer was cut off"
	}
	return ""
}
