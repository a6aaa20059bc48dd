package llm_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// TestSegmentHashes checks that a hash changes with everything of a segment that reaches a provider.
func TestSegmentHashes(t *testing.T) {
	opaque := json.RawMessage(`{"x":1}`)
	for name, pair := range map[string][2]llm.Message{
		"the opaque part of a text":   {said(llm.Text{Text: "a"}), said(llm.Text{Text: "a", Opaque: opaque})},
		"the signature of thinking":   {said(llm.Thinking{Text: "a", Signature: "s"}), said(llm.Thinking{Text: "a", Signature: "t"})},
		"the opaque part of thinking": {said(llm.Thinking{Text: "a"}), said(llm.Thinking{Text: "a", Opaque: opaque})},
		"the name of a call":          {said(llm.ToolCall{ID: "1", Name: "a"}), said(llm.ToolCall{ID: "1", Name: "b"})},
		"the ID of a call":            {said(llm.ToolCall{ID: "1", Name: "a"}), said(llm.ToolCall{ID: "2", Name: "a"})},
		"the opaque part of a call":   {said(llm.ToolCall{ID: "1", Name: "a"}), said(llm.ToolCall{ID: "1", Name: "a", Opaque: opaque})},
		"the bytes of an image":       {said(llm.Image{Data: []byte("a")}), said(llm.Image{Data: []byte("b")})},
		"the kind of an image":        {said(llm.Image{MIME: "image/png"}), said(llm.Image{MIME: "image/gif"})},
		"the blob of an image":        {said(llm.Image{Blob: "a"}), said(llm.Image{Blob: "b"})},
		"the bytes of a document":     {said(llm.Document{Name: "x", Data: []byte("a")}), said(llm.Document{Name: "x", Data: []byte("b")})},
		"a part of an unknown kind":   {said(llm.UnknownPart{JSON: []byte("1")}), said(llm.UnknownPart{JSON: []byte("2")})},
		"the call of a result":        {llm.ToolText(llm.ToolCall{ID: "1"}, "a", false), llm.ToolText(llm.ToolCall{ID: "2"}, "a", false)},
		"where one text ends":         {said(llm.Text{Text: "ab"}, llm.Text{Text: "c"}), said(llm.Text{Text: "a"}, llm.Text{Text: "bc"})},
		"text or thinking":            {said(llm.Text{Text: "a"}), said(llm.Thinking{Text: "a"})},
		"the role":                    {llm.UserText("a"), llm.AssistantText("a")},
		"an additional empty part":    {said(llm.Text{Text: "a"}), said(llm.Text{Text: "a"}, llm.Text{})},
	} {
		before, after := (&llm.Request{Messages: pair[:1]}).SegmentHashes(), (&llm.Request{Messages: pair[1:]}).SegmentHashes()
		if before[1] == after[1] {
			t.Errorf("%s is in no hash", name)
		}
	}
	tool := llm.Tool{Name: "a", Description: "b", Schema: json.RawMessage(`{}`)}
	for _, other := range []llm.Tool{
		{Name: "c", Description: "b", Schema: tool.Schema},
		{Name: "a", Description: "c", Schema: tool.Schema},
		{Name: "a", Description: "b", Schema: opaque},
	} {
		if (&llm.Request{Tools: []llm.Tool{tool}}).SegmentHashes()[0] == (&llm.Request{Tools: []llm.Tool{other}}).SegmentHashes()[0] {
			t.Errorf("%+v and %+v have the same hash", tool, other)
		}
	}
}

func TestSettingsWith(t *testing.T) {
	hot, cold := new(1.0), new(0.0)
	base := llm.Settings{MaxTokens: 100, Temperature: hot, Thinking: llm.ThinkLow}
	if got := base.With(llm.Settings{}); !reflect.DeepEqual(got, base) {
		t.Errorf("over nothing: %+v", got)
	}
	over := llm.Settings{Schema: json.RawMessage(`{}`), MaxTokens: 5, Temperature: cold, Thinking: llm.ThinkOff, Cache: llm.CacheOff}
	if got := base.With(over); !reflect.DeepEqual(got, over) {
		t.Errorf("all fields over: %+v", got)
	}
}

func said(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleAssistant, Content: parts} }
