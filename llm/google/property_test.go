package google_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
)

// conversations gives conversations as broken as a journal can have them: lost and doubled results, calls of other models, empty
// messages, text that is no UTF-8.
func conversations() *rapid.Generator[[]llm.Message] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " \n", "a\xffb", "\x00", "世界", "Continue."}))
	id := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "call_0", "a b!", "世", string(make([]byte, 200))}), rapid.String())
	name := rapid.OneOf(rapid.SampledFrom([]string{"look", "9lives", "-x", "", "a.b", "世界"}), rapid.String())
	arguments := rapid.OneOf(rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, `[1]`, `{"a`, "null", "{\"a\":\"\xff\"}"}), rapid.String())
	opaque := rapid.Map(rapid.SampledFrom([]string{"", `{"thoughtSignature":"b3du"}`, `{"thoughtSignature":"b3du","id":"x"}`, `7`, `{`}),
		func(s string) json.RawMessage { return json.RawMessage(s) })
	data := rapid.SampledFrom([][]byte{nil, pixel, pdf, []byte("GIF89a"), []byte("text")})
	part := rapid.Custom(func(t *rapid.T) llm.Part {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0, 1:
			return llm.Text{Text: text.Draw(t, "text"), Opaque: opaque.Draw(t, "opaque")}
		case 2:
			return llm.Thinking{Text: text.Draw(t, "thinking"), Signature: rapid.SampledFrom([]string{"", "b3du"}).Draw(t, "signature")}
		case 3, 4:
			return llm.ToolCall{
				ID: id.Draw(t, "id"), Name: name.Draw(t, "name"), Arguments: arguments.Draw(t, "arguments"),
				Opaque: opaque.Draw(t, "opaque"), Truncated: rapid.Bool().Draw(t, "truncated"),
			}
		case 5:
			return llm.Image{MIME: "image/png", Data: data.Draw(t, "image")}
		default:
			return llm.Document{Name: name.Draw(t, "name"), MIME: "application/pdf", Data: data.Draw(t, "document")}
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
		return llm.Message{
			Role:    rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, llm.RoleTool, "other"}).Draw(t, "role"),
			Model:   rapid.SampledFrom([]string{"gemini/gemini-2.5-flash", "gemini/gemini-3-pro-preview", "vertex/gemini-3-pro", "anthropic/x", ""}).Draw(t, "model"),
			Content: rapid.SliceOfN(part, 0, 4).Draw(t, "content"),
			CallID:  id.Draw(t, "call"), Tool: name.Draw(t, "tool"), IsError: rapid.Bool().Draw(t, "error"),
		}.Valid()
	}), 0, 8)
}

// Any conversation is a request that the server accepts.
func TestAnyConversationIsAccepted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom([]llm.Model{flash(), pro3(), {Provider: "gemini", ID: "gemma-3-4b-it", NoTools: true}}).Draw(rt, "model")
		req := &llm.Request{
			System:   rapid.SampledFrom([]string{"", "Be brief.", "\xff"}).Draw(rt, "system"),
			Messages: conversations().Draw(rt, "messages"),
			Settings: llm.Settings{Thinking: rapid.SampledFrom([]llm.Thinks{"", llm.ThinkOff, llm.ThinkMinimal, llm.ThinkHigh}).Draw(rt, "thinking")},
		}
		if rapid.Bool().Draw(rt, "tools") {
			req.Tools = []llm.Tool{{Name: "9lives"}, {Name: "look", Schema: json.RawMessage(`{"type":"object"}`)}}
			req.ToolChoice = rapid.SampledFrom([]llm.ToolChoice{llm.ToolAuto, llm.ToolRequired, llm.ToolNone}).Draw(rt, "choice")
		}
		if rapid.Bool().Draw(rt, "schema") {
			req.Schema = json.RawMessage(`{"type":"object"}`)
		}
		make, protocol := gemini(model), modelserver.Gemini
		if rapid.Bool().Draw(rt, "vertex") {
			make, protocol = vertex(model), modelserver.GeminiVertex
		}
		r, body := sent(t, make, req)
		rules := modelserver.Rules{ThoughtSignatures: model.ID == pro3().ID}
		if err := rules.Check(protocol, r, body); err != nil {
			rt.Fatalf("%v\n%s", err, body)
		}
	})
}

var _ llm.Client = (*google.Client)(nil)
