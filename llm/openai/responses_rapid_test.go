package openai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
)

// respConversation draws a conversation as a journal may have it at its worst: orphans, doubles, empty messages, reasoning of
// others, odd IDs, text that is not UTF-8.
func respConversation() *rapid.Generator[[]llm.Message] {
	text := rapid.SampledFrom([]string{"", " ", "Hello.", "\xff\xfe", "a\x00b", "äöü", "<think>", "{}"})
	id := rapid.SampledFrom([]string{"", "call_1", "call_2", "toolu/odd id", "\xff", string(make([]byte, 90))})
	name := rapid.SampledFrom([]string{"read", "", "odd name", "\xff"})
	opaque := rapid.SampledFrom([]string{
		"", `null`, `{}`, `[1]`, `"x"`, `{"phase":"commentary"}`, `{"phase":7}`, `{not`, `{"type":"reasoning"}`,
		`{"type":"reasoning","id":"rs_3","summary":[]}`, `{"type":"thinking","encrypted_content":"x"}`,
	})
	thought := rapid.Map(rapid.IntRange(0, 9), func(n int) string {
		return fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"y"}`, n)
	})
	part := rapid.Custom(func(t *rapid.T) llm.Part {
		raw := json.RawMessage(opaque.Draw(t, "opaque"))
		switch rapid.IntRange(0, 6).Draw(t, "part") {
		case 0:
			raw = json.RawMessage(rapid.OneOf(thought, thought, opaque).Draw(t, "thought"))
			return llm.Thinking{Text: text.Draw(t, "text"), Signature: text.Draw(t, "signature"), Opaque: raw}
		case 1:
			return llm.ToolCall{
				ID: id.Draw(t, "id"), Name: name.Draw(t, "name"), Opaque: raw, Truncated: rapid.Bool().Draw(t, "truncated"),
				Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a":`, "null", "\xff"}).Draw(t, "arguments"),
			}
		case 2:
			return llm.Image{MIME: "image/jpeg", Data: rapid.SampledFrom([][]byte{nil, respPNG(), []byte("text")}).Draw(t, "image")}
		case 3:
			return llm.Document{
				MIME: rapid.SampledFrom([]string{"application/pdf", "text/plain", ""}).Draw(t, "mime"), Name: text.Draw(t, "name"),
				Data: rapid.SampledFrom([][]byte{nil, []byte("%PDF-1.4"), []byte("text"), []byte("\xff")}).Draw(t, "data"),
			}
		case 4:
			return llm.UnknownPart{Type: "novelty", JSON: json.RawMessage(`{"type":"novelty"}`)}
		default:
			return llm.Text{Text: text.Draw(t, "text"), Opaque: raw}
		}
	})
	message := rapid.Custom(func(t *rapid.T) llm.Message {
		return llm.Message{
			Role:    rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleAssistant, llm.RoleTool, "odd"}).Draw(t, "role"),
			Content: rapid.SliceOfN(part, 0, 5).Draw(t, "content"), CallID: id.Draw(t, "call"), Tool: name.Draw(t, "tool"),
			Model: rapid.SampledFrom([]string{"openai/gpt-5", "openai/gpt-4o", "anthropic/claude", "", "openai"}).Draw(t, "model"),
		}
	})
	return rapid.SliceOfN(message, 0, 12)
}

// Whatever a conversation is made of, a server takes the request, and the same conversation gives the same bytes.
func TestResponsesAnyConversation(t *testing.T) {
	models := []llm.Model{
		respModel(),
		{Provider: "openai", ID: "gpt-4o", Images: true},
		{Provider: "openai", ID: "o1-mini", NoTools: true, Quirks: []llm.Quirk{llm.QuirkNoSystem}},
		{Provider: "azure", ID: "gpt-5", Context: 1000, MaxOutput: 100},
	}
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom(models).Draw(rt, "model")
		req := &llm.Request{
			System:   rapid.SampledFrom([]string{"", "Be brief.", "\xff"}).Draw(rt, "system"),
			Messages: respConversation().Draw(rt, "conversation"),
			Settings: llm.Settings{Thinking: rapid.SampledFrom([]llm.Thinks{"", llm.ThinkOff, llm.ThinkHigh, "odd"}).Draw(rt, "thinking")},
		}
		if rapid.Bool().Draw(rt, "tools") {
			req.Tools = []llm.Tool{respTool("read")}
		}
		before := fmt.Sprintf("%+v", req.Messages)
		sent, body := respSent(t, model, openai.ResponsesOptions{}, req)
		if err := modelserver.Check(modelserver.OpenAIResponses, sent, body); err != nil {
			rt.Errorf("%v\n%s", err, body)
		}
		if _, again := respSent(t, model, openai.ResponsesOptions{}, req); string(again) != string(body) {
			rt.Errorf("first\n%s\nthen\n%s", body, again)
		}
		if after := fmt.Sprintf("%+v", req.Messages); after != before {
			rt.Errorf("the conversation was\n%s\nand is\n%s", before, after)
		}
	})
}
