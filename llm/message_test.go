package llm_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

func TestMessageText(t *testing.T) {
	call := llm.ToolCall{ID: "c1", Name: "read"}
	m := llm.Message{Content: llm.Content{llm.Thinking{Text: "hm"}, llm.Text{Text: "a"}, call, llm.Text{Text: "b"}}}
	if got := m.Text(); got != "ab" {
		t.Errorf("text %q", got)
	}
	if got := m.Calls(); !reflect.DeepEqual(got, []llm.ToolCall{call}) {
		t.Errorf("calls %v", got)
	}
	if got := (llm.Message{}).Text(); got != "" {
		t.Errorf("text of nothing %q", got)
	}
}

func TestEmpty(t *testing.T) {
	tests := []struct {
		part llm.Part
		want bool
	}{
		{llm.Text{}, true},
		{llm.Text{Text: " \n\t"}, true},
		{llm.Text{Text: "a"}, false},
		{llm.Thinking{}, true},
		{llm.Thinking{Text: "hm"}, false},
		{llm.Thinking{Signature: "s"}, false},
		{llm.Thinking{Opaque: json.RawMessage(`1`)}, false},
		{llm.ToolCall{}, false},
		{llm.Image{}, false},
		{llm.UnknownPart{}, false},
	}
	for _, tt := range tests {
		if got := (llm.Message{Content: llm.Content{llm.Text{}, tt.part}}).Empty(); got != tt.want {
			t.Errorf("%#v: %v", tt.part, got)
		}
	}
	if !(llm.Message{}).Empty() {
		t.Error("no parts are not empty")
	}
}

func TestValid(t *testing.T) {
	const bad, good = "a\xff\xfeb", "a\uFFFDb"
	raw, fixed := json.RawMessage(`{"k":"`+bad+`"}`), json.RawMessage(`{"k":"`+good+`"}`)
	m := llm.Message{
		Role: bad, Model: bad, Stop: bad, CallID: bad, Tool: bad,
		Content: llm.Content{
			llm.Text{Text: bad, Opaque: raw},
			nil,
			llm.Thinking{Text: bad, Signature: bad, Opaque: json.RawMessage(`{`)},
			llm.ToolCall{ID: bad, Name: bad, Arguments: bad, Opaque: raw},
			llm.Image{MIME: bad, Blob: bad, Data: []byte(bad)},
			llm.Document{MIME: bad, Name: bad, Blob: bad, Data: []byte(bad)},
			llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{"type":"x","k":"` + bad + `"}`)},
			llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{`)},
		},
	}
	want := llm.Message{
		Role: good, Model: good, Stop: good, CallID: good, Tool: good,
		Content: llm.Content{
			llm.Text{Text: good, Opaque: fixed},
			llm.Thinking{Text: good, Signature: good},
			llm.ToolCall{ID: good, Name: good, Arguments: good, Opaque: fixed},
			llm.Image{MIME: good, Blob: good, Data: []byte(bad)},
			llm.Document{MIME: good, Name: good, Blob: good, Data: []byte(bad)},
			llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{"type":"x","k":"` + good + `"}`)},
			llm.Text{Text: "[a part that could not be kept]"},
		},
	}
	got := m.Valid()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if m.Content[0].(llm.Text).Text != bad || m.Content[1] != nil {
		t.Error("the message itself was changed")
	}
	if again := got.Valid(); &again.Content[0] != &got.Content[0] {
		t.Error("a valid message was copied")
	}
}

func TestUsage(t *testing.T) {
	u := llm.Usage{Input: 1, CacheRead: 2, CacheWrite: 5, Output: 10, Reasoning: 20, Cost: 0.5}
	if got := u.Total(); got != 38 {
		t.Errorf("total %d", got)
	}
	if got := u.Prompt(); got != 8 {
		t.Errorf("prompt %d", got)
	}
	if got := u.CacheHits(); got != 0.25 {
		t.Errorf("cache hits %v", got)
	}
	if got := (llm.Usage{Output: 1}).CacheHits(); got != 0 {
		t.Errorf("cache hits without a prompt %v", got)
	}
	want := llm.Usage{Input: 2, CacheRead: 4, CacheWrite: 10, Output: 20, Reasoning: 40, Cost: 1}
	if got := u.Plus(u); got != want {
		t.Errorf("plus %+v", got)
	}
}

func TestCost(t *testing.T) {
	p := llm.Price{Input: 1, CacheRead: 0.5, CacheWrite: 2, Output: 4}
	const million = 1_000_000
	tests := []struct {
		usage llm.Usage
		want  float64
	}{
		{llm.Usage{}, 0},
		{llm.Usage{Input: million}, 1},
		{llm.Usage{CacheRead: million}, 0.5},
		{llm.Usage{CacheWrite: million}, 2},
		{llm.Usage{Output: million / 2}, 2},
		{llm.Usage{Output: million, Reasoning: million}, 8},
		{llm.Usage{Input: million, Cost: 0.25}, 0.25},
	}
	for _, tt := range tests {
		if got := p.Cost(tt.usage); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.usage, got, tt.want)
		}
	}
}

func TestCachePolicies(t *testing.T) {
	for policy, want := range map[llm.CachePolicy]string{
		"": "stm", "off": "", "system": "s", "tools,messages": "tm", " messages , system": "sm", "sometimes": "",
	} {
		got := ""
		for _, place := range []llm.CachePolicy{llm.CacheSystem, llm.CacheTools, llm.CacheMessages} {
			if policy.Marks(place) {
				got += string(place[:1])
			}
		}
		if got != want || policy.Valid() != (policy != "sometimes") {
			t.Errorf("%q marks %q, valid: %v", policy, got, policy.Valid())
		}
	}
}
