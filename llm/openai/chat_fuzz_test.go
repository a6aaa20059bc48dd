package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
)

// chatJudge runs an answer and complains of one that does not end as every answer must.
func chatJudge(t *testing.T, c llm.Client) {
	ended := false
	for e, err := range c.Stream(context.Background(), recorded.Ask()) {
		if ended {
			t.Fatal("something follows the end")
		}
		if err != nil {
			if _, ok := err.(*llm.Error); !ok {
				t.Fatalf("the error is a %T", err)
			}
			ended = true
			continue
		}
		done, ok := e.(llm.Done)
		if !ok {
			continue
		}
		ended = true
		if u := done.Message.Usage; u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 || u.Reasoning < 0 || u.Cost < 0 {
			t.Fatalf("the usage is %+v", u)
		}
		ids := map[string]bool{}
		for _, call := range done.Message.Calls() {
			if call.ID == "" || call.Name == "" {
				t.Fatalf("a call is %+v", call)
			}
			ids[call.ID] = true
		}
		if _, err := json.Marshal(done.Message); err != nil {
			t.Fatal(err)
		}
	}
	if !ended {
		t.Fatal("it has no end")
	}
}

func fuzzChat(f *testing.F, kind string) {
	for _, fixture := range chatFixtures(f) {
		if fixture.kind == kind {
			f.Add(fixture.data, fixture.profile == "openrouter")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, details bool) {
		profile := "openai-compatible"
		if details {
			profile = "openrouter"
		}
		chatJudge(t, chatAnswering(t, profile, kind, bytes.NewReader(data)))
	})
}

func FuzzChatStream(f *testing.F) { fuzzChat(f, "text/event-stream") }

func FuzzChatWhole(f *testing.F) { fuzzChat(f, "application/json") }

// chatConversations makes conversations as broken as a journal can be.
func chatConversations(provider string) *rapid.Generator[[]llm.Message] {
	id := rapid.SampledFrom([]string{"", "c1", "c1", "functions.read:0", "ünï", "\xff", strings.Repeat("long", 20)})
	text := rapid.SampledFrom([]string{"", " ", "Hello", "a\xffb", "日本 \u2028", "<think>x</think>"})
	opaque := rapid.SampledFrom([]string{
		``, `{"id":"fc_1"}`, `[{"type":"reasoning.text","text":"a","index":0}]`, `[{"type":"other"}]`, `{"extra_content":{"google":{}}}`, `{`, `"x"`,
	})
	part := rapid.Custom(func(t *rapid.T) llm.Part {
		raw := json.RawMessage(opaque.Draw(t, "opaque"))
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return llm.Thinking{Text: text.Draw(t, "thought"), Signature: text.Draw(t, "signature"), Opaque: raw}
		case 1:
			arguments := rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a`, `[1]`, `null`, "\xff"}).Draw(t, "arguments")
			name := rapid.SampledFrom([]string{"", "read", "weird name!", strings.Repeat("n", 99)}).Draw(t, "name")
			return llm.ToolCall{ID: id.Draw(t, "id"), Name: name, Arguments: arguments, Opaque: raw, Truncated: rapid.Bool().Draw(t, "cut")}
		case 2:
			return llm.Image{MIME: "image/gif", Data: []byte(rapid.SampledFrom([]string{"", chatPNG, "no picture"}).Draw(t, "image"))}
		case 3:
			data := rapid.SampledFrom([]string{"", "%PDF-1.4", "\xff\xfe"}).Draw(t, "document")
			mime := rapid.SampledFrom([]string{"application/pdf", "text/plain"}).Draw(t, "mime")
			return llm.Document{MIME: mime, Name: text.Draw(t, "file"), Data: []byte(data)}
		case 4:
			return llm.UnknownPart{Type: "later", JSON: json.RawMessage(`{"type":"later"}`)}
		default:
			return llm.Text{Text: text.Draw(t, "text"), Opaque: raw}
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
		return llm.Message{
			Role:    rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, "other"}).Draw(t, "role"),
			Model:   rapid.SampledFrom([]string{"", provider + "/anthropic/model", provider + "/m", "other/m"}).Draw(t, "model"),
			CallID:  id.Draw(t, "call id"),
			Tool:    "read",
			IsError: rapid.Bool().Draw(t, "failed"),
			Content: rapid.SliceOfN(part, 0, 4).Draw(t, "content"),
		}
	}), 0, 12)
}

// Whatever happened in a conversation, each server takes it.
func TestChatAnyConversation(t *testing.T) {
	var profiles []openai.Profile
	for p := range openai.Profiles() {
		profiles = append(profiles, p)
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(profiles).Draw(rt, "profile")
		model := llm.Model{
			Provider: p.Name, ID: "anthropic/model", Images: rapid.Bool().Draw(rt, "sees"), Documents: rapid.Bool().Draw(rt, "reads"),
			NoTools: rapid.Bool().Draw(rt, "no tools"),
		}
		req := &llm.Request{Messages: chatConversations(p.Name).Draw(rt, "conversation"), Tools: chatEverything("").Tools}
		r, data := chatSent(t, model, chatOptions(t, p.Name), req)
		if err := chatProblems(chatExtra().Check(modelserver.OpenAIChat, r, data), p); err != nil {
			rt.Fatalf("%s: %v\n%s", p.Name, err, data)
		}
		if p.AnswerToResult && bytes.Contains(data, []byte(`"tool_call_id"`)) {
			if err := chatOrder(data); err != nil {
				rt.Fatalf("%s: %v\n%s", p.Name, err, data)
			}
		}
	})
}

// chatProblems leaves out that IDs are longer than OpenAI takes them, where a gateway takes them.
func chatProblems(err error, p openai.Profile) error {
	if err != nil && p.ReasoningBack == openai.ReasoningDetails && strings.Contains(err.Error(), "{1,40}") {
		return nil
	}
	return err
}

// chatOrder complains of a user's message right behind a result.
func chatOrder(data []byte) error {
	var body struct{ Messages []struct{ Role string } }
	if err := json.Unmarshal(data, &body); err != nil {
		return err
	}
	for i := 1; i < len(body.Messages); i++ {
		if body.Messages[i].Role == "user" && body.Messages[i-1].Role == "tool" {
			return fmt.Errorf("the user's message %d follows a result", i)
		}
	}
	return nil
}

func BenchmarkChatStream(b *testing.B) {
	const deltas = 20_000
	var stream bytes.Buffer
	for range deltas {
		stream.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1782321905,"model":"gpt-5","service_tier":"default",` +
			`"system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Txa2"}` + "\n\n")
	}
	stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	for _, kind := range []string{"text", "thinking"} {
		data := stream.Bytes()
		if kind == "thinking" {
			data = bytes.ReplaceAll(data, []byte(`"content"`), []byte(`"reasoning_content"`))
		}
		b.Run(kind, func(b *testing.B) {
			c := chatClient(b, "openai", func(_ *http.Request, _ []byte) (string, io.Reader) {
				return "text/event-stream", bytes.NewReader(data)
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if _, err := llm.Collect(b.Context(), c, recorded.Ask()); err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N*deltas), "allocs/delta")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deltas), "ns/delta")
		})
	}
}
