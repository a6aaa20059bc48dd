package tokens_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/window/tokens"
)

func tool() llm.Tool {
	return llm.Tool{
		Name: "read", Description: "Read a file of the project.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"path of the file"}},"required":["path"]}`),
	}
}

// A message has the tokens of its parts and a small frame.
func TestMessage(t *testing.T) {
	prose := samples(t)["prose-english"].text
	text := tokens.Text(prose)
	for _, tt := range []struct {
		name        string
		part        llm.Part
		least, most int // without the frame
	}{
		{"text", llm.Text{Text: prose}, text, text},
		{"thinking", llm.Thinking{Text: prose, Signature: strings.Repeat("x", 5000)}, text, text},
		{"encrypted thinking", llm.Thinking{Text: "so", Opaque: json.RawMessage(`"` + strings.Repeat("x", 5998) + `"`)}, 1000, 1000},
		{"call", llm.ToolCall{ID: "1", Name: "write", Arguments: prose}, text + 2, text + 12},
		{"document", llm.Document{MIME: "text/markdown", Data: []byte(prose)}, text, text},
		{"image in a blob", llm.Image{MIME: "image/png", Blob: "b1"}, 1600, 1600},
		{"unknown", llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{"type":"x"}`)}, 0, 0},
		{"nothing", nil, 0, 0},
	} {
		const frame = 4
		if got := tokens.Message(llm.Message{Role: llm.RoleUser, Content: llm.Content{tt.part}}) - frame; got < tt.least || got > tt.most {
			t.Errorf("%s: %d tokens, want %d to %d", tt.name, got, tt.least, tt.most)
		}
	}
	result := llm.ToolText(llm.ToolCall{ID: "1", Name: "read"}, prose, false)
	if got := tokens.Message(result); got <= text+4 || got > text+20 {
		t.Errorf("a result of %d tokens has %d", text, got)
	}
}

// Earlier reasoning has no tokens in families that do not read it again.
func TestEarlierThinking(t *testing.T) {
	m := llm.Message{Role: llm.RoleAssistant, Content: llm.Content{llm.Thinking{Text: strings.Repeat("word ", 100)}}}
	if n := tokens.OpenAI.Message(m); n > 10 {
		t.Errorf("OpenAI: %d tokens", n)
	}
	if n := tokens.Anthropic.Message(m); n < 100 {
		t.Errorf("Anthropic: %d tokens", n)
	}
}

func TestRequest(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{llm.UserText("hello")}}
	small := tokens.Request(req)
	if small < 5 || small > 15 {
		t.Errorf("a request with one word has %d tokens", small)
	}
	add := func(what string, change func(r *llm.Request), least, most int) {
		t.Helper()
		r := *req
		change(&r)
		if n := tokens.Request(&r) - small; n < least || n > most {
			t.Errorf("%s: %d tokens more, want %d to %d", what, n, least, most)
		}
	}
	add("a system prompt", func(r *llm.Request) { r.System = strings.Repeat("word ", 50) }, 50, 60)
	add("a tool", func(r *llm.Request) { r.Tools = []llm.Tool{tool()} }, tokens.Tools([]llm.Tool{tool()}), 60)
	add("a schema", func(r *llm.Request) { r.Schema = tool().Schema }, 20, 50)
	add("another message", func(r *llm.Request) { r.Messages = append(r.Messages[:1:1], llm.AssistantText("hi")) }, 5, 6)
	req.Tools = []llm.Tool{tool()}
	if a, o := tokens.Anthropic.Request(req), tokens.OpenAI.Request(req); a < o+250 {
		t.Errorf("Anthropic adds a prompt for tools: %d tokens, OpenAI %d", a, o)
	}
	if n := tokens.Request(&llm.Request{}); n < 0 || n > 10 {
		t.Errorf("an empty request has %d tokens", n)
	}
}

func TestFamilyOf(t *testing.T) {
	for ref, want := range map[string]tokens.Family{
		"anthropic/claude-sonnet-4-5":                tokens.Anthropic,
		"bedrock/us.anthropic.claude-haiku-4-5-v1:0": tokens.Anthropic,
		"openrouter/google/gemini-2.5-pro":           tokens.Gemini,
		"ollama/gemma3:12b":                          tokens.Gemini,
		"openai/o4-mini":                             tokens.OpenAI,
		"azure/mine":                                 tokens.OpenAI,
		"groq/openai/gpt-oss-120b":                   tokens.OpenAI,
		"deepseek/deepseek-chat":                     tokens.DeepSeek,
		"groq/deepseek-r1-distill-llama-70b":         tokens.DeepSeek,
		"ollama/qwen3-coder":                         tokens.Qwen,
		"groq/llama-3.3-70b":                         tokens.Llama,
		"mistral/devstral-medium":                    tokens.Mistral,
		"groq/moonshotai/Kimi-K2":                    tokens.Kimi,
		"zai/glm-4.7":                                tokens.GLM,
		"xai/grok-code-fast-1":                       tokens.Grok,
		"offline/rules":                              tokens.Unknown,
		"anthropic/a-new-name-1":                     tokens.Anthropic,
	} {
		provider, id, _ := strings.Cut(ref, "/")
		if got := tokens.FamilyOf(llm.Model{Provider: provider, ID: id}); got != want {
			t.Errorf("%s: family %q, want %q", ref, got, want)
		}
	}
}
