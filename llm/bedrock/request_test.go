package bedrock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
)

// tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// sent returns the request that a client sends.
func sent(t tester, m llm.Model, o bedrock.Options, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	var request *http.Request
	var body []byte
	o.Endpoint = at(func(r *http.Request) (*http.Response, error) {
		request = r
		body, _ = io.ReadAll(r.Body)
		return answer(http.StatusTeapot, "text/plain", strings.NewReader("")), nil
	})
	c := bedrock.New(m, o)
	for range c.Stream(context.Background(), req) {
	}
	if request == nil {
		t.Fatal("nothing was sent")
	}
	return request, body
}

func picture(t tester) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everything is a conversation with all that there is, good and bad.
func everything(t tester) []llm.Message {
	img := llm.Image{MIME: "image/png", Data: picture(t)}
	pdf := llm.Document{MIME: "application/pdf", Name: "Ein Bericht_2.pdf", Data: []byte("%PDF-1.4 tiny")}
	own, nova, other := "bedrock/anthropic.claude-sonnet-4", "bedrock/amazon.nova-pro-v1:0", "openai/gpt"
	read := llm.ToolCall{ID: "tooluse_1", Name: "read", Arguments: `{"path": "a.go", "path": "b.go"}`}
	look := llm.ToolCall{ID: "tooluse_2", Name: "look", Arguments: `{}`}
	odd := llm.ToolCall{ID: "functions.odd:0", Name: "no such tool!", Arguments: `{"half`}
	lost := llm.ToolCall{ID: "tooluse_1", Name: "read", Arguments: ``}
	return []llm.Message{
		{Role: llm.RoleUser, Content: llm.Content{
			llm.Text{Text: "What is this?"},
			img, pdf,
			llm.Document{MIME: "text/plain", Name: "a.txt", Data: []byte("plain")},
		}},
		{Role: llm.RoleAssistant, Model: own, Content: llm.Content{
			llm.Thinking{Text: "I shall look.", Signature: "c2lnbmVk"},
			llm.Thinking{Opaque: json.RawMessage(`{"redactedContent":"c2VjcmV0"}`)},
			llm.Text{Text: "I look."},
			read, look,
		}},
		{Role: llm.RoleTool, CallID: "tooluse_2", Tool: "look", Content: llm.Content{llm.Text{Text: "seen"}, img}, IsError: true},
		{Role: llm.RoleTool, CallID: "tooluse_1", Tool: "read", Content: llm.Content{pdf}},
		llm.UserText("Be quick."),
		{Role: llm.RoleAssistant, Model: other, Content: llm.Content{
			llm.Thinking{Text: "Foreign.", Signature: "eA=="}, llm.Text{Text: "Now this."}, odd,
		}},
		{Role: llm.RoleTool, CallID: "functions.odd:0", Tool: "odd"},
		{Role: llm.RoleAssistant, Model: nova, Content: llm.Content{llm.Thinking{Text: "[REDACTED]"}, llm.Text{Text: "Done."}}},
		{Role: llm.RoleUser, Content: llm.Content{pdf}},
		{Role: llm.RoleAssistant, Model: own, Content: llm.Content{
			llm.Text{Text: "Again."}, lost, llm.Thinking{Text: "late", Signature: "bGF0ZQ=="},
		}},
		{Role: llm.RoleUser},
		llm.UserText("Well? \xff"),
	}
}

func someTools() []llm.Tool {
	return []llm.Tool{
		{Name: "look", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	}
}

// models are some of each family, so that every rule is used.
func models() map[string]llm.Model {
	of := func(id string) llm.Model {
		return llm.Model{Provider: "bedrock", ID: id, Images: true, Documents: true, MaxOutput: 64_000, Context: 200_000}
	}
	adaptive := of("global.anthropic.claude-opus-4-6-v1")
	adaptive.Quirks = []llm.Quirk{llm.QuirkAdaptiveThinking, llm.QuirkNoTemperature}
	return map[string]llm.Model{
		"claude":          of("us.anthropic.claude-haiku-4-5-20251001-v1:0"),
		"claude_adaptive": adaptive,
		"claude_old":      of("anthropic.claude-3-haiku-20240307-v1:0"),
		"nova":            of("eu.amazon.nova-pro-v1:0"),
		"nova_2":          of("us.amazon.nova-2-lite-v1:0"),
		"gpt_oss":         {Provider: "bedrock", ID: "openai.gpt-oss-120b-1:0"},
		"gpt":             of("us.openai.gpt-5.6-example"),
		"llama":           {Provider: "bedrock", ID: "us.meta.llama4-maverick-17b-instruct-v1:0"},
		"mistral":         {Provider: "bedrock", ID: "mistral.mistral-large-2407-v1:0", Images: true},
		"unknown":         {Provider: "bedrock", ID: "arn:aws:bedrock:us-east-1:1:application-inference-profile/x"},
		"without_tools":   {Provider: "bedrock", ID: "deepseek.r1-v1:0", NoTools: true, Quirks: []llm.Quirk{llm.QuirkNoSystem}},
	}
}

// The requests for a conversation with everything in it are kept in testdata/request, and such as Bedrock takes.
func TestRequest(t *testing.T) {
	for name, m := range models() {
		t.Run(name, func(t *testing.T) {
			req := &llm.Request{System: "Be brief.", Messages: everything(t), Tools: someTools(), Settings: llm.Settings{Thinking: llm.ThinkMedium}}
			r, body := sent(t, m, bedrock.Options{}, req)
			if err := modelserver.Check(modelserver.Bedrock, r, body); err != nil {
				t.Error(err)
			}
			var b bytes.Buffer
			if err := json.Indent(&b, body, "", "\t"); err != nil {
				t.Fatal(err)
			}
			path := "testdata/request/" + name + ".json"
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || b.String() != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("%v, got:\n%s", err, b.Bytes())
			}
		})
	}
}

// How thinking, limits, tools and structured answers are asked for.
func TestRequestFields(t *testing.T) {
	temperature := 0.5
	schema := json.RawMessage(`{"type":"object"}`)
	call := llm.ToolCall{ID: "a", Name: "look", Arguments: "{}"}
	foreignTurn := []llm.Message{llm.UserText("a"), {Role: llm.RoleAssistant, Content: llm.Content{call}}, llm.ToolText(call, "b", false)}
	tests := []struct {
		name, model string
		req         llm.Request
		options     bedrock.Options
		want        []string // parts of the body; those that begin with ! must not be in it
	}{
		{"a budget", "claude", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkHigh, Temperature: &temperature}}, bedrock.Options{}, []string{`"thinking":{"budget_tokens":32768,"type":"enabled"}`, `!temperature`, `"maxTokens":64000`}},
		{"a small budget", "claude", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkMinimal}}, bedrock.Options{}, []string{`"budget_tokens":1024`}},
		{"a budget is less than the limit", "claude", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkHigh, MaxTokens: 4000}}, bedrock.Options{}, []string{`"budget_tokens":2000`, `"maxTokens":4000`}},
		{"no room for thinking", "claude", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkHigh, MaxTokens: 1024}}, bedrock.Options{}, []string{`!thinking`}},
		{"no thinking", "claude", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkOff, Temperature: &temperature}}, bedrock.Options{}, []string{`!thinking`, `"temperature":0.5`}},
		{"a turn that another model began", "claude", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkHigh}, Messages: foreignTurn, Tools: someTools()}, bedrock.Options{}, []string{`!thinking`}},
		{"by effort", "claude_adaptive", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkLow, Temperature: &temperature}, Messages: foreignTurn, Tools: someTools()}, bedrock.Options{}, []string{`{"output_config":{"effort":"low"},"thinking":{"type":"adaptive"}}`, `!temperature`}},
		{"none by effort", "claude_adaptive", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkOff}}, bedrock.Options{}, []string{`{"thinking":{"type":"disabled"}}`}},
		{"a model that cannot", "claude_old", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkHigh}}, bedrock.Options{}, []string{`!additional`}},
		{"Nova", "nova_2", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkLow, Temperature: &temperature}}, bedrock.Options{}, []string{`"reasoningConfig":{"maxReasoningEffort":"low","type":"enabled"}`, `!temperature`, `maxTokens`}},
		{"Nova at its most", "nova_2", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkHigh}}, bedrock.Options{}, []string{`"maxReasoningEffort":"high"`, `!maxTokens`}},
		{"Nova without", "nova_2", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkOff}}, bedrock.Options{}, []string{`!reasoning`}},
		{"gpt-oss", "gpt_oss", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkOff}}, bedrock.Options{}, []string{`{"reasoning_effort":"low"}`}},
		{"GPT", "gpt", llm.Request{Settings: llm.Settings{Thinking: llm.ThinkOff}}, bedrock.Options{}, []string{`{"reasoning":{"effort":"none"}}`}},
		{"a structured answer", "claude", llm.Request{Settings: llm.Settings{Schema: schema}, Tools: someTools()}, bedrock.Options{}, []string{`"name":"final_answer"`, `"toolChoice":{"any":{}}`, `!Give the final`}},
		{"a structured answer of one that thinks", "claude", llm.Request{Settings: llm.Settings{Schema: schema, Thinking: llm.ThinkLow}}, bedrock.Options{}, []string{`"name":"final_answer"`, `!toolChoice`, `Give the final answer by calling`, `thinking`}},
		{"a structured answer without tools", "without_tools", llm.Request{Settings: llm.Settings{Schema: schema}}, bedrock.Options{}, []string{`!toolConfig`, `nothing but JSON`}},
		{"a call is demanded", "nova", llm.Request{ToolChoice: llm.ToolRequired, Tools: someTools()}, bedrock.Options{}, []string{`"toolChoice":{"any":{}}`}},
		{"a call cannot be demanded", "llama", llm.Request{ToolChoice: llm.ToolRequired, Tools: someTools()}, bedrock.Options{}, []string{`!toolChoice`}},
		{"no calls", "claude", llm.Request{ToolChoice: llm.ToolNone, Tools: someTools(), Messages: foreignTurn}, bedrock.Options{}, []string{`!toolConfig`, `!toolUse`, `[called the tool look`}},
		{"no cache", "claude", llm.Request{Settings: llm.Settings{Cache: llm.CacheOff}, System: "a"}, bedrock.Options{}, []string{`!cachePoint`}},
		{"the cache of the system prompt alone", "claude", llm.Request{Settings: llm.Settings{Cache: llm.CacheSystem}, System: "a", Tools: someTools()}, bedrock.Options{}, []string{`"system":[{"text":"a"},{"cachePoint":{"type":"default"}}]`}},
		{"a window that is full", "claude", llm.Request{System: strings.Repeat("word ", 115_000)}, bedrock.Options{}, []string{`"maxTokens":7`}},
		{"a limit beyond the model's", "claude", llm.Request{Settings: llm.Settings{MaxTokens: 1e6}}, bedrock.Options{}, []string{`"maxTokens":64000`}},
		{"a limit of a model that is not known", "gpt_oss", llm.Request{}, bedrock.Options{}, []string{`!maxTokens`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.req.Messages == nil {
				tt.req.Messages = []llm.Message{llm.UserText("a")}
			}
			r, body := sent(t, models()[tt.model], tt.options, &tt.req)
			if err := modelserver.Check(modelserver.Bedrock, r, body); err != nil {
				t.Error(err)
			}
			for _, part := range tt.want {
				part, not := strings.CutPrefix(part, "!")
				if strings.Contains(string(body), part) == not {
					t.Errorf("%s in %.1000s", part, body)
				}
			}
		})
	}
}

// anyConversation makes conversations with everything that can be wrong with one.
func anyConversation(t *rapid.T) []llm.Message {
	ids := rapid.SampledFrom([]string{"a", "b", "", "odd id:1", strings.Repeat("long", 30), "\xff"})
	text := rapid.SampledFrom([]string{"", " ", "word", "\xffhalf", "line\nline", "日本"})
	img := picture(t)
	anyPart := func() llm.Part {
		switch rapid.IntRange(0, 9).Draw(t, "part") {
		case 0, 1:
			return llm.ToolCall{ID: ids.Draw(t, "id"), Name: text.Draw(t, "name"), Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":1,"a":2}`, "[1]", `{"half`, "\xff"}).Draw(t, "arguments")}
		case 2:
			return llm.Thinking{Text: text.Draw(t, "thought"), Signature: rapid.SampledFrom([]string{"", "c2ln"}).Draw(t, "signature")}
		case 3:
			return llm.Thinking{Opaque: json.RawMessage(rapid.SampledFrom([]string{`{"redactedContent":"aGk="}`, `{"redactedContent":7}`, `{}`, `"x"`}).Draw(t, "opaque"))}
		case 4:
			return llm.Image{MIME: "image/gif", Data: rapid.SampledFrom([][]byte{nil, img, []byte("no image")}).Draw(t, "image")}
		case 5:
			return llm.Document{MIME: rapid.SampledFrom([]string{"application/pdf", "text/plain", ""}).Draw(t, "mime"), Name: text.Draw(t, "file"), Data: rapid.SampledFrom([][]byte{nil, []byte("%PDF-1.4"), []byte(" ")}).Draw(t, "data")}
		default:
			return llm.Text{Text: text.Draw(t, "text")}
		}
	}
	var all []llm.Message
	for range rapid.IntRange(0, 12).Draw(t, "messages") {
		m := llm.Message{
			Role:   rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleAssistant, llm.RoleTool, llm.RoleTool}).Draw(t, "role"),
			Model:  rapid.SampledFrom([]string{"", "openai/gpt", "bedrock/us.anthropic.claude-x", "bedrock/amazon.nova-2-lite-v1:0", "bedrock/openai.gpt-5.6"}).Draw(t, "model"),
			CallID: ids.Draw(t, "call"), IsError: rapid.Bool().Draw(t, "error"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			m.Content = append(m.Content, anyPart())
		}
		all = append(all, m)
	}
	return all
}

// anyRequest is a request with any conversation.
func anyRequest(t *rapid.T) *llm.Request {
	req := &llm.Request{
		Messages:   anyConversation(t),
		System:     rapid.SampledFrom([]string{"", " ", "Be brief."}).Draw(t, "system"),
		ToolChoice: rapid.SampledFrom([]llm.ToolChoice{llm.ToolAuto, llm.ToolRequired, llm.ToolNone}).Draw(t, "choice"),
		Settings:   llm.Settings{Thinking: rapid.SampledFrom([]llm.Thinks{"", llm.ThinkOff, llm.ThinkLow, llm.ThinkHigh}).Draw(t, "thinking"), MaxTokens: rapid.SampledFrom([]int{0, 1, 1000, 1 << 40}).Draw(t, "limit")},
	}
	if rapid.Bool().Draw(t, "tools") {
		req.Tools = someTools()
	}
	if rapid.Bool().Draw(t, "schema") {
		req.Schema = json.RawMessage(`{"type":"object"}`)
	}
	return req
}

// Whatever a conversation is like, Bedrock takes the request; the same request has the same bytes.
func TestAnyConversation(t *testing.T) {
	all := models()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		m := all[rapid.SampledFrom(names).Draw(t, "which")]
		req := anyRequest(t)
		r, body := sent(t, m, bedrock.Options{}, req)
		if err := (modelserver.Rules{NoPrefill: true}).Check(modelserver.Bedrock, r, body); err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		if _, again := sent(t, m, bedrock.Options{}, req); !bytes.Equal(body, again) {
			t.Fatalf("other bytes: %s\n%s", body, again)
		}
	})
}

// A conversation that goes on keeps its beginning, cache points aside, so that the provider's cache keeps hitting.
func TestTheBeginningStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anyConversation(t)
		before = append(before, llm.UserText("And now?"))
		after := append(slices.Clone(before), llm.AssistantText("This."))
		after = append(after, anyConversation(t)...)
		_, one := sent(t, haiku, bedrock.Options{}, &llm.Request{Messages: before, Tools: someTools()})
		_, two := sent(t, haiku, bedrock.Options{}, &llm.Request{Messages: after, Tools: someTools()})
		a, b := unmarked(t, one), unmarked(t, two)
		if len(a) > len(b) || !slices.Equal(a, b[:len(a)]) {
			t.Fatalf("%s\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	})
}

// unmarked returns the messages of a request without cache points.
func unmarked(t tester, body []byte) []string {
	var r struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range r.Messages {
		out = append(out, strings.ReplaceAll(string(m), `,{"cachePoint":{"type":"default"}}`, ""))
	}
	return out
}
