package recorded

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// answer is what an answer says. Neighbouring texts are one, so that it does not matter how they were cut.
type answer struct {
	Parts []piece
	Stop  llm.StopReason
	Usage llm.Usage
}

// piece is a part of an answer.
type piece struct {
	Kind  string // text, thinking or call
	Text  string // of a call: its arguments as they were written
	Proof string // what must go back untouched
	ID    string // of a call; empty when the server gave none
	Name  string
}

// add adds to the last piece of the kind, or begins one.
func (a *answer) add(kind, text, proof string) {
	if text == "" && proof == "" {
		return
	}
	if n := len(a.Parts); n > 0 && a.Parts[n-1].Kind == kind {
		a.Parts[n-1].Text += text
		a.Parts[n-1].Proof += proof
		return
	}
	a.Parts = append(a.Parts, piece{Kind: kind, Text: text, Proof: proof})
}

func (a *answer) call(id, name, arguments, proof string) {
	a.Parts = append(a.Parts, piece{Kind: "call", Text: arguments, Proof: proof, ID: id, Name: name})
}

// asText returns the answer with its calls as text, as a structured answer is.
func (a answer) asText() answer {
	out := answer{Stop: a.Stop, Usage: a.Usage}
	if out.Stop == llm.StopCalls {
		out.Stop = llm.StopEnd
	}
	for _, p := range a.Parts {
		if p.Kind == "call" {
			p.Kind = "text"
		}
		out.add(p.Kind, p.Text, p.Proof)
	}
	return out
}

// answerOf reads a message of ours.
func answerOf(m llm.Message) answer {
	a := answer{Stop: m.Stop, Usage: m.Usage}
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			a.add("text", p.Text, proof(p.Opaque))
		case llm.Thinking:
			a.add("thinking", p.Text, p.Signature+proof(p.Opaque))
		case llm.ToolCall:
			a.call(p.ID, p.Name, p.Arguments, proof(p.Opaque))
		}
	}
	return a
}

// proof returns what matters of opaque data: a list as it is, of an object the member that is encrypted or signed.
func proof(opaque json.RawMessage) string {
	var v any
	if json.Unmarshal(opaque, &v) != nil {
		return ""
	}
	if list, ok := v.([]any); ok {
		return string(written(list))
	}
	members, _ := v.(map[string]any)
	for _, name := range []string{"thoughtSignature", "encrypted_content", "data", "redactedContent"} {
		if s, ok := members[name].(string); ok {
			return s
		}
	}
	return ""
}

// written returns JSON with its members in order.
func written(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return data
}

func compareAnswers(t *testing.T, want answer, r reading) {
	t.Helper()
	got := answerOf(r.message)
	for i := range got.Parts {
		if i < len(want.Parts) && want.Parts[i].Kind == "call" && want.Parts[i].ID == "" && got.Parts[i].ID != "" {
			got.Parts[i].ID = "" // ours is made up
		}
	}
	const least = 1e-12 // of costs, which are fractions
	if d := got.Usage.Cost - want.Usage.Cost; d < least && d > -least {
		got.Usage.Cost = want.Usage.Cost
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the answer is read as\n%s\nbut is\n%s", indented(got), indented(want))
	}
}

func indented(v any) string {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// collect reads an answer to its end, and checks that its events tell the same as its message.
func collect(t *testing.T, c llm.Client, req *llm.Request) llm.Message {
	t.Helper()
	told := map[int]string{}
	ready := 0
	var done *llm.Message
	for e, err := range c.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if done != nil {
			t.Fatalf("%T follows the end", e)
		}
		switch e := e.(type) {
		case llm.TextDelta:
			told[e.Part] += e.Text
		case llm.ThinkingDelta:
			told[e.Part] += e.Text
		case llm.CallDelta:
			told[e.Part] += e.Arguments
		case llm.CallReady:
			ready++
			if told[e.Part] != e.Call.Arguments {
				t.Errorf("the call %s is ready with %q after %q", e.Call.Name, e.Call.Arguments, told[e.Part])
			}
		case llm.Done:
			done = &e.Message
		}
	}
	if done == nil {
		t.Fatal("the answer has no end")
	}
	if done.Model != c.Model().Ref() {
		t.Errorf("the answer is said to be of %s", done.Model) // aliases and dated names are no other models
	}
	if n := len(done.Calls()); n != ready {
		t.Errorf("%d of %d calls were ready", ready, n)
	}
	var all, message strings.Builder
	for _, part := range slices.Sorted(maps.Keys(told)) {
		all.WriteString(told[part])
	}
	for _, p := range answerOf(*done).Parts {
		message.WriteString(p.Text)
	}
	if a, b := all.String(), message.String(); a != b {
		t.Errorf("the events tell %q, the message %q", a, b)
	}
	return *done
}

// decode reads JSON of which the members that are not looked for do not matter.
func decode(t *testing.T, data string, to any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(data))
	if err := d.Decode(to); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
}

// compact returns JSON without white space.
func compact(data []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return string(data)
	}
	return b.String()
}

// events returns the data of server-sent events, without the mark that ends some streams.
func events(body string) []string {
	var all []string
	for _, block := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(block, "\n") {
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				lines = append(lines, strings.TrimSpace(data))
			}
		}
		if data := strings.Join(lines, "\n"); data != "" && data != "[DONE]" {
			all = append(all, data)
		}
	}
	return all
}
