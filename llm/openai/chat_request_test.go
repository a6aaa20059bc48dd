package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// chatSent returns the request that a client sends.
func chatSent(t testing.TB, model llm.Model, o openai.ChatOptions, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	var sent *http.Request
	var data []byte
	o.Endpoint.HTTP = wire.NewClient(chatServer(func(r *http.Request, body []byte) (string, io.Reader) {
		sent, data = r, body
		return "application/json", strings.NewReader(`{"choices":[{"index":0,"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	}))
	if _, err := llm.Collect(t.Context(), openai.NewChat(model, o), req); err != nil {
		t.Fatal(err)
	}
	return sent, data
}

// chatBody is a request's body as JSON.
func chatBody(t testing.TB, model llm.Model, o openai.ChatOptions, req *llm.Request) map[string]any {
	t.Helper()
	_, data := chatSent(t, model, o, req)
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// chatPNG is a picture of one pixel.
const chatPNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82"

// chatEverything is a request with all that a conversation can have, answers of this provider and of another in it.
func chatEverything(provider string) *llm.Request {
	own := provider + "/anthropic/model"
	picture := llm.Image{MIME: "image/jpeg", Data: []byte(chatPNG)}
	details := json.RawMessage(`[{"type":"reasoning.text","text":"I look.","signature":"c2ln","index":0}]`)
	tool := func(id, name string, parts ...llm.Part) llm.Message {
		return llm.Message{Role: llm.RoleTool, CallID: id, Tool: name, Content: parts}
	}
	return &llm.Request{
		System: "Be brief.",
		Tools: []llm.Tool{
			{Name: "list", Description: "Lists a folder."},
			{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		},
		Settings: llm.Settings{Thinking: llm.ThinkHigh},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: llm.Content{
				llm.Text{Text: "What is this?"},
				picture,
				llm.Document{MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.4 a")},
				llm.Document{MIME: "text/plain", Name: "a.txt", Data: []byte("a note")},
			}},
			{Role: llm.RoleAssistant, Model: own, Content: llm.Content{
				llm.Thinking{Text: "I look.", Opaque: details},
				llm.Text{Text: "I look at it."},
				llm.ToolCall{
					ID: "functions.read:0", Name: "read", Arguments: `{"path":"a"}`,
					Opaque: json.RawMessage(`{"extra_content":{"google":{"thought_signature":"c2ln"}}}`),
				},
				llm.ToolCall{ID: "c2", Name: "list", Arguments: ``},
				llm.ToolCall{ID: "c2", Name: "read", Arguments: `{"pa`},
			}},
			tool("c2", "list", llm.Text{Text: "a.txt"}, picture),
			tool("functions.read:0", "read", llm.Text{Text: "the text"}),
			llm.UserText("Go on, please."),
			{Role: llm.RoleAssistant, Model: "another/model", Content: llm.Content{
				llm.Thinking{Text: "Foreign.", Signature: "x", Opaque: json.RawMessage(`{"type":"reasoning"}`)},
				llm.ToolCall{ID: "toolu_01", Name: "list", Arguments: `{}`, Opaque: json.RawMessage(`{"id":"fc_1"}`)},
			}},
			tool("toolu_01", "list"),
			{Role: llm.RoleAssistant, Model: own},
			{Role: llm.RoleAssistant, Model: own, Content: llm.Content{llm.Text{Text: " "}, llm.Thinking{Text: "alone"}}},
			llm.UserText("And now?"),
			llm.UserText("Please."),
		},
	}
}

// chatAble is a model of a profile that can do everything.
func chatAble(provider string) llm.Model {
	return llm.Model{Provider: provider, ID: "anthropic/model", Images: true, Documents: true, MaxOutput: 4000}
}

// chatExtra is what servers take beyond OpenAI's own protocol.
func chatExtra() modelserver.Rules {
	return modelserver.Rules{Extra: []string{
		"cache_control", "chat_template_kwargs", "enable_thinking", "extra_content", "google", "thought_signature", "reasoning", "effort", "enabled",
		"reasoning_content", "reasoning_details", "thinking", "usage", "include", "name", "type",
	}}
}

// Each server is sent what it takes. The file of each profile has the whole request.
func TestChatRequests(t *testing.T) {
	for p := range openai.Profiles() {
		t.Run(p.Name, func(t *testing.T) {
			r, data := chatSent(t, chatAble(p.Name), chatOptions(t, p.Name), chatEverything(p.Name))
			if err := chatExtra().Check(modelserver.OpenAIChat, r, data); err != nil {
				t.Error(err)
			}
			var b bytes.Buffer
			if err := json.Indent(&b, data, "", "  "); err != nil {
				t.Fatal(err)
			}
			recorded.Golden(t, "testdata/chat/requests/"+p.Name+".json", b.String()+"\n", *update)
			if _, again := chatSent(t, chatAble(p.Name), chatOptions(t, p.Name), chatEverything(p.Name)); !bytes.Equal(data, again) {
				t.Error("the same request has other bytes the second time")
			}
		})
	}
}

// OpenAI itself is sent nothing that is not of its protocol.
func TestChatRequestIsOpenAIs(t *testing.T) {
	for _, name := range []string{"openai", "azure", "github", "groq", "xai", "cerebras", "together", "lmstudio", "ollama", "huggingface"} {
		req := chatEverything("elsewhere")
		r, data := chatSent(t, chatAble(name), chatOptions(t, name), req)
		if err := modelserver.Check(modelserver.OpenAIChat, r, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A growing conversation keeps its beginning, so that the provider's cache keeps hitting.
func TestChatRequestsGrow(t *testing.T) {
	for p := range openai.Profiles() {
		all := chatEverything(p.Name)
		before := []any{}
		for _, n := range []int{1, 4, 5, 7, len(all.Messages)} {
			req := *all
			req.Messages, req.Cache = all.Messages[:n], llm.CacheOff
			now := chatBody(t, chatAble(p.Name), chatOptions(t, p.Name), &req)["messages"].([]any)
			if len(now) < len(before) || !reflect.DeepEqual(now[:len(before)], before) {
				t.Errorf("%s: %d messages do not begin as those before:\n%v\n%v", p.Name, n, now, before)
			}
			before = now
			if last := before[len(before)-1].(map[string]any); last["role"] == "user" && n < len(all.Messages) && n > 1 {
				before = before[:len(before)-1] // it may get more text
			}
		}
	}
}

func TestChatCacheMarks(t *testing.T) {
	marks := func(id string, policy llm.CachePolicy) []int {
		model, req := chatAble("openrouter"), chatEverything("openrouter")
		model.ID, req.Cache = id, policy
		var found []int
		for i, m := range chatBody(t, model, chatOptions(t, "openrouter"), req)["messages"].([]any) {
			if strings.Contains(string(chatJSON(t, m)), "cache_control") {
				found = append(found, i)
			}
		}
		return found
	}
	if got := marks("anthropic/claude-sonnet-4.5", llm.CacheAuto); len(got) != 3 || got[0] != 0 {
		t.Errorf("marks on %v", got)
	}
	if got := marks("anthropic/claude-sonnet-4.5", llm.CacheOff); got != nil {
		t.Errorf("marks on %v", got)
	}
	if got := marks("anthropic/claude-sonnet-4.5", llm.CacheSystem); len(got) != 1 || got[0] != 0 {
		t.Errorf("marks on %v", got)
	}
	if got := marks("anthropic/claude-sonnet-4.5", llm.CacheMessages); len(got) != 2 || got[0] == 0 {
		t.Errorf("marks on %v", got)
	}
	if got := marks("openai/gpt-5", llm.CacheAuto); got != nil {
		t.Errorf("marks on %v", got)
	}
}

// The default of a model for coding is in the request, unless the model has nothing to choose from.
func TestChatThinkingByDefault(t *testing.T) {
	for _, tt := range []struct {
		thinks []llm.Thinks
		level  llm.Thinks
		want   any
	}{
		{[]llm.Thinks{llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}, llm.ThinkDefault, "medium"},
		{[]llm.Thinks{llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}, llm.ThinkProvider, nil},
		{[]llm.Thinks{llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}, llm.ThinkLow, "low"},
		{[]llm.Thinks{llm.ThinkOff, llm.ThinkMedium}, llm.ThinkDefault, nil},
		{[]llm.Thinks{llm.ThinkOff, llm.ThinkMedium}, llm.ThinkMedium, "medium"},
		{[]llm.Thinks{llm.ThinkOff, llm.ThinkMedium}, llm.ThinkOff, "none"},
	} {
		model := llm.Model{Provider: "groq", ID: "m", Thinks: tt.thinks, Thinking: llm.ThinkMedium}
		body := chatBody(t, model, chatOptions(t, "groq"), &llm.Request{Messages: recorded.Ask().Messages, Settings: llm.Settings{Thinking: tt.level}})
		if body["reasoning_effort"] != tt.want {
			t.Errorf("%q of %v: %v, want %v", tt.level, tt.thinks, body["reasoning_effort"], tt.want)
		}
	}
}

func TestChatThinking(t *testing.T) {
	all := []llm.Thinks{llm.ThinkOff, llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	three := []llm.Thinks{llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	for _, tt := range []struct {
		profile string
		level   llm.Thinks
		thinks  []llm.Thinks
		want    string
	}{
		{"openai", llm.ThinkDefault, all, `{}`},
		{"openai", llm.ThinkHigh, nil, `{"reasoning_effort":"high"}`},
		{"openai", llm.ThinkOff, all, `{"reasoning_effort":"none"}`},
		{"openai", llm.ThinkOff, three, `{"reasoning_effort":"low"}`},
		{"openai", llm.ThinkMinimal, three, `{"reasoning_effort":"low"}`},
		{"openai", llm.ThinkHigh, []llm.Thinks{llm.ThinkOff}, `{}`},
		{"openai", llm.ThinkOff, []llm.Thinks{llm.ThinkOff}, `{}`},
		{"openai", llm.ThinkHigh, []llm.Thinks{}, `{}`},
		{"xai", llm.ThinkMinimal, nil, `{"reasoning_effort":"low"}`},
		{"xai", llm.ThinkOff, nil, `{}`},
		{"mistral", llm.ThinkLow, nil, `{"reasoning_effort":"high"}`},
		{"deepseek", llm.ThinkMedium, nil, `{"reasoning_effort":"high","thinking":{"type":"enabled"}}`},
		{"deepseek", llm.ThinkOff, nil, `{"thinking":{"type":"disabled"}}`},
		{"zai", llm.ThinkLow, nil, `{"thinking":{"type":"enabled"}}`},
		{"openrouter", llm.ThinkMinimal, nil, `{"reasoning":{"effort":"minimal"}}`},
		{"openrouter", llm.ThinkOff, nil, `{"reasoning":{"enabled":false}}`},
		{"vllm", llm.ThinkMinimal, nil, `{"chat_template_kwargs":{"enable_thinking":true},"reasoning_effort":"low"}`},
		{"vllm", llm.ThinkOff, nil, `{"chat_template_kwargs":{"enable_thinking":false}}`},
		{"llamacpp", llm.ThinkHigh, nil, `{"chat_template_kwargs":{"enable_thinking":true}}`},
	} {
		model := llm.Model{Provider: tt.profile, ID: "m", Thinks: tt.thinks}
		body := chatBody(t, model, chatOptions(t, tt.profile), &llm.Request{Messages: recorded.Ask().Messages, Settings: llm.Settings{Thinking: tt.level}})
		got := map[string]any{}
		for _, name := range []string{"reasoning_effort", "reasoning", "thinking", "chat_template_kwargs"} {
			if v, ok := body[name]; ok {
				got[name] = v
			}
		}
		if s := string(chatJSON(t, got)); s != tt.want {
			t.Errorf("%s %q of %v: got %s, want %s", tt.profile, tt.level, tt.thinks, s, tt.want)
		}
	}
}

// Reasoning goes back only to where it came from, and where it is wanted.
func TestChatReasoningBack(t *testing.T) {
	sent := func(profile, id, model string) string {
		m := llm.Model{Provider: profile, ID: id}
		req := chatEverything(profile)
		req.Messages[1].Model = model
		for _, one := range chatBody(t, m, chatOptions(t, profile), req)["messages"].([]any) {
			if one := one.(map[string]any); one["role"] == "assistant" {
				delete(one, "content")
				delete(one, "role")
				calls, _ := one["tool_calls"].([]any)
				delete(one, "tool_calls")
				if len(calls) > 0 {
					one["extra"] = calls[0].(map[string]any)["extra_content"]
				}
				return string(chatJSON(t, one))
			}
		}
		return ""
	}
	const extra = `{"google":{"thought_signature":"c2ln"}}`
	const details = `[{"index":0,"signature":"c2ln","text":"I look.","type":"reasoning.text"}]`
	for _, tt := range [][4]string{
		{"openai", "gpt", "openai/gpt", `{"extra":` + extra + `}`},
		{"deepseek", "v4", "deepseek/v3", `{"extra":` + extra + `,"reasoning_content":"I look."}`},
		{"deepseek", "v4", "zai/glm", `{"extra":null,"reasoning_content":" "}`},
		{"xai", "grok-4", "xai/grok-code-fast-1", `{"extra":` + extra + `,"reasoning_content":"I look."}`},
		{"zai", "glm", "deepseek/v3", `{"extra":null}`},
		{"zai", "glm", "zainet/glm", `{"extra":null}`},
		{"openrouter", "google/gemini-3", "openrouter/google/gemini-2.5", `{"extra":` + extra + `,"reasoning_details":` + details + `}`},
		{"openrouter", "google/gemini-3", "openrouter/openai/gpt-5", `{"extra":null}`},
		{"vercel", "google/gemini-3", "openrouter/google/gemini-3", `{"extra":null}`},
	} {
		if got := sent(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("%s to %s/%s: got %s, want %s", tt[2], tt[0], tt[1], got, tt[3])
		}
	}
}

func TestChatLimits(t *testing.T) {
	long := strings.Repeat("word ", 3000) // 5000 tokens at most
	for _, tt := range []struct {
		asked, most, context int
		text                 string
		want                 any
	}{
		{0, 0, 0, "hi", nil},
		{0, 0, 8000, "hi", nil},
		{0, 4000, 0, "hi", 4000.0},
		{100, 4000, 0, "hi", 100.0},
		{9000, 4000, 0, "hi", 4000.0},
		{9000, 0, 0, "hi", 9000.0},
		{0, 4000, 8000, long, 8000.0 - 1024 - 5008},
		{0, 4000, 5000, long, 625.0},
	} {
		req := &llm.Request{Settings: llm.Settings{MaxTokens: tt.asked}, Messages: []llm.Message{llm.UserText(tt.text)}}
		model := llm.Model{Provider: "together", ID: "m", MaxOutput: tt.most, Context: tt.context}
		if got := chatBody(t, model, chatOptions(t, "together"), req)["max_tokens"]; got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

func TestChatTemperature(t *testing.T) {
	req := recorded.Ask()
	req.Temperature = new(0.0)
	model := llm.Model{Provider: "openai", ID: "m"}
	if got := chatBody(t, model, chatOptions(t, "openai"), req)["temperature"]; got != 0.0 {
		t.Errorf("got %v", got)
	}
	model.Quirks = []llm.Quirk{llm.QuirkNoTemperature}
	if got, there := chatBody(t, model, chatOptions(t, "openai"), req)["temperature"]; there {
		t.Errorf("got %v", got)
	}
}

func TestChatSystem(t *testing.T) {
	req := recorded.Ask()
	req.System = "Be brief."
	model := llm.Model{Provider: "openai", ID: "m"}
	for profile, want := range map[string]string{"openai": "developer", "groq": "system"} {
		first := chatBody(t, model, chatOptions(t, profile), req)["messages"].([]any)[0].(map[string]any)
		if first["role"] != want || first["content"] != "Be brief." {
			t.Errorf("%s: got %v", profile, first)
		}
	}
	model.Quirks = []llm.Quirk{llm.QuirkNoSystem}
	first := chatBody(t, model, chatOptions(t, "groq"), req)["messages"].([]any)[0].(map[string]any)
	if first["role"] != "user" || first["content"] != "Be brief.\n\nHello" {
		t.Errorf("got %v", first)
	}
}

func TestChatToolChoice(t *testing.T) {
	for _, tt := range []struct {
		profile string
		choice  llm.ToolChoice
		want    any
	}{
		{"openai", llm.ToolAuto, nil},
		{"openai", llm.ToolNone, "none"},
		{"openai", llm.ToolRequired, "required"},
		{"deepseek", llm.ToolRequired, nil},
		{"deepseek", llm.ToolNone, "none"},
	} {
		req := chatEverything(tt.profile)
		req.ToolChoice = tt.choice
		if got := chatBody(t, chatAble(tt.profile), chatOptions(t, tt.profile), req)["tool_choice"]; got != tt.want {
			t.Errorf("%s %q: got %v", tt.profile, tt.choice, got)
		}
	}
	model := chatAble("openai")
	model.NoTools = true
	if body := chatBody(t, model, chatOptions(t, "openai"), chatEverything("openai")); body["tools"] != nil || bytes.Contains(chatJSON(t, body), []byte("tool_call")) {
		t.Errorf("a model without tools was sent %s", chatJSON(t, body))
	}
}

func TestChatSchema(t *testing.T) {
	strict := `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	loose := `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, tt := range []struct {
		profile, schema string
		tools           bool
		quirk           llm.Quirk
		want            string
	}{
		{"openai", strict, true, "", "json_schema strict"},
		{"openai", loose, true, "", "json_schema"},
		{"mistral", strict, true, "", "json_schema"},
		{"vllm", strict, false, "", "json_schema"},
		{"vllm", strict, true, "", "list read final_answer required"},
		{"groq", strict, false, "", "final_answer forced"},
		{"groq", strict, true, "", "list read final_answer required"},
		{"groq", strict, true, llm.QuirkNativeSchema, "json_schema"},
		{"deepseek", strict, true, "", "json_object in words"},
		{"openai-compatible", strict, false, "", "final_answer forced"},
	} {
		model := chatAble(tt.profile)
		model.Quirks = []llm.Quirk{tt.quirk}
		req := &llm.Request{System: "S", Messages: recorded.Ask().Messages, Settings: llm.Settings{Schema: json.RawMessage(tt.schema)}}
		if tt.tools {
			req.Tools = chatEverything("").Tools
		}
		body := chatBody(t, model, chatOptions(t, tt.profile), req)
		if got := chatSchemaKind(body); got != tt.want {
			t.Errorf("%s %s %t: got %q, want %q", tt.profile, tt.schema, tt.tools, got, tt.want)
		}
	}
}

// chatSchemaKind says how a request asks for a structured answer.
func chatSchemaKind(body map[string]any) string {
	var words []string
	if f, ok := body["response_format"].(map[string]any); ok {
		words = append(words, f["type"].(string))
		if s, ok := f["json_schema"].(map[string]any); ok && s["strict"] == true {
			words = append(words, "strict")
		}
		if strings.Contains(body["messages"].([]any)[0].(map[string]any)["content"].(string), `"additionalProperties"`) {
			words = append(words, "in words")
		}
		return strings.Join(words, " ")
	}
	for _, tool := range body["tools"].([]any) {
		words = append(words, tool.(map[string]any)["function"].(map[string]any)["name"].(string))
	}
	switch choice := body["tool_choice"].(type) {
	case string:
		words = append(words, choice)
	case map[string]any:
		words = append(words, "forced")
	}
	return strings.Join(words, " ")
}

// A call of the tool that stands for a structured answer is the answer.
func TestChatSchemaAnswer(t *testing.T) {
	c := chatAnswering(t, "groq", "application/json", strings.NewReader(`{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"`+fit.SchemaToolName+`","arguments":"{\"a\":1}"}}]}}]}`))
	m, err := llm.Collect(t.Context(), c, &llm.Request{Messages: recorded.Ask().Messages, Settings: llm.Settings{Schema: json.RawMessage(`{"type":"object"}`)}})
	if err != nil || m.Text() != `{"a":1}` || m.Stop != llm.StopEnd || len(m.Calls()) > 0 {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestChatHeaders(t *testing.T) {
	o := chatOptions(t, "groq")
	o.NoStream = true
	r, data := chatSent(t, llm.Model{Provider: "groq", ID: "m"}, o, recorded.Ask())
	if r.URL.String() != "http://server.test/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-secret" {
		t.Errorf("got %s %v", r.URL, r.Header)
	}
	if bytes.Contains(data, []byte(`"stream`)) {
		t.Errorf("a whole answer was asked for with %s", data)
	}
	o.Endpoint.Authorize = func(r *http.Request, _ []byte) error {
		r.Header.Set("Authorization", "Bearer token-of-its-own")
		return nil
	}
	if r, _ := chatSent(t, llm.Model{ID: "m"}, o, recorded.Ask()); !slices.Equal(r.Header["Authorization"], []string{"Bearer token-of-its-own"}) {
		t.Errorf("got %v", r.Header)
	}
}

func TestChatBadSchema(t *testing.T) {
	req := recorded.Ask()
	req.Tools = []llm.Tool{{Name: "a", Schema: json.RawMessage(`{"a`)}}
	_, err := llm.Collect(t.Context(), chatAnswering(t, "openai", "", nil), req)
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindInvalidRequest || !strings.Contains(e.Message, "schema of every tool") {
		t.Errorf("got %v", err)
	}
}

func TestChatNoBaseURL(t *testing.T) {
	p, _ := openai.ProfileOf("openai-compatible")
	_, err := llm.Collect(t.Context(), openai.NewChat(llm.Model{ID: "m"}, openai.ChatOptions{Profile: p}), recorded.Ask())
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindInvalidRequest || !strings.Contains(e.Message, "base URL") {
		t.Errorf("got %v", err)
	}
}
