package window

import (
	"encoding/json"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// TestSegments holds that whatever of a request reaches a provider is in the hashes by which a changed prefix is found.
func TestSegments(t *testing.T) {
	opaque := json.RawMessage(`{"x":1}`)
	for name, pair := range map[string][2]llm.Message{
		"the opaque part of a text":     {said(llm.Text{Text: "a"}), said(llm.Text{Text: "a", Opaque: opaque})},
		"the signature of thinking":     {said(llm.Thinking{Text: "a", Signature: "s"}), said(llm.Thinking{Text: "a", Signature: "t"})},
		"the opaque part of thinking":   {said(llm.Thinking{Text: "a"}), said(llm.Thinking{Text: "a", Opaque: opaque})},
		"the name of a call":            {said(llm.ToolCall{ID: "1", Name: "a"}), said(llm.ToolCall{ID: "1", Name: "b"})},
		"the ID of a call":              {said(llm.ToolCall{ID: "1", Name: "a"}), said(llm.ToolCall{ID: "2", Name: "a"})},
		"the opaque part of a call":     {said(llm.ToolCall{ID: "1", Name: "a"}), said(llm.ToolCall{ID: "1", Name: "a", Opaque: opaque})},
		"the bytes of an image":         {said(llm.Image{Data: []byte("a")}), said(llm.Image{Data: []byte("b")})},
		"the kind of an image":          {said(llm.Image{MIME: "image/png"}), said(llm.Image{MIME: "image/gif"})},
		"the blob of an image":          {said(llm.Image{Blob: "a"}), said(llm.Image{Blob: "b"})},
		"the bytes of a document":       {said(llm.Document{Name: "x", Data: []byte("a")}), said(llm.Document{Name: "x", Data: []byte("b")})},
		"what is not known here":        {said(llm.UnknownPart{JSON: []byte("1")}), said(llm.UnknownPart{JSON: []byte("2")})},
		"the call that a result is of":  {llm.ToolText(llm.ToolCall{ID: "1"}, "a", false), llm.ToolText(llm.ToolCall{ID: "2"}, "a", false)},
		"where one text ends":           {said(llm.Text{Text: "ab"}, llm.Text{Text: "c"}), said(llm.Text{Text: "a"}, llm.Text{Text: "bc"})},
		"what is a text, and thinking":  {said(llm.Text{Text: "a"}), said(llm.Thinking{Text: "a"})},
		"who said it":                   {llm.UserText("a"), llm.AssistantText("a")},
		"one part more that says empty": {said(llm.Text{Text: "a"}), said(llm.Text{Text: "a"}, llm.Text{})},
	} {
		before, after := segments(&llm.Request{Messages: pair[:1]}), segments(&llm.Request{Messages: pair[1:]})
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
		if segments(&llm.Request{Tools: []llm.Tool{tool}})[0] == segments(&llm.Request{Tools: []llm.Tool{other}})[0] {
			t.Errorf("%+v and %+v have the same hash", tool, other)
		}
	}
}

func said(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleAssistant, Content: parts} }
