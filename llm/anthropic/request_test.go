package anthropic

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// sent returns the request that a client sends.
func sent(t testing.TB, model llm.Model, o Options, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	return sentBy(t, func(o Options) *Client { return New(model, o) }, o, req)
}

func sentBy(t testing.TB, make func(Options) *Client, o Options, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	var got *http.Request
	var body []byte
	s := recorded.Server(func(r *http.Request, b []byte) *http.Response {
		got, body = r, b
		return response(500, "", strings.NewReader(""))
	})
	o.HTTP = served(s).HTTP
	_, err := llm.Collect(t.Context(), make(o), req)
	if got == nil {
		t.Fatalf("nothing was sent: %v", err)
	}
	return got, body
}

func picture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everything is a conversation with all that there is, good and bad.
func everything(t testing.TB) []llm.Message {
	img := llm.Image{MIME: "image/png", Data: picture(t)}
	own, other := "anthropic/claude-older", "openai/gpt"
	read := llm.ToolCall{ID: "toolu_1", Name: "read", Arguments: `{"path": "a.go", "path": "b.go"}`}
	look := llm.ToolCall{ID: "toolu_2", Name: "look", Arguments: `{}`}
	odd := llm.ToolCall{ID: "functions.odd:0", Name: "no such tool!", Arguments: `{"half`}
	lost := llm.ToolCall{ID: "toolu_1", Name: "read", Arguments: ``}
	return []llm.Message{
		{Role: llm.RoleUser, Content: llm.Content{
			llm.Text{Text: "What is this?"},
			img,
			llm.Document{MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.4 tiny")},
			llm.Document{MIME: "text/plain", Name: "a.txt", Data: []byte("plain")},
		}},
		{Role: llm.RoleAssistant, Model: own, Content: llm.Content{
			llm.Thinking{Text: "I shall look.", Signature: "c2lnbmVk"},
			llm.Thinking{Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"c2VjcmV0"}`)},
			llm.Text{Text: "I look."},
			read,
			llm.Thinking{Text: "And there.", Signature: "dHdv"},
			look,
		}},
		{Role: llm.RoleTool, CallID: "toolu_2", Tool: "look", Content: llm.Content{llm.Text{Text: "seen"}, img}, IsError: true},
		{Role: llm.RoleTool, CallID: "toolu_1", Tool: "read", Content: llm.Content{llm.Text{Text: "package a"}, img}},
		llm.UserText("Be quick."),
		{Role: llm.RoleAssistant, Model: other, Content: llm.Content{
			llm.Thinking{Text: "Foreign.", Signature: "eA=="}, llm.Text{Text: "Now this."}, odd,
		}},
		{Role: llm.RoleTool, CallID: "functions.odd:0", Tool: "odd"},
		{Role: llm.RoleAssistant, Model: own, Content: llm.Content{llm.Thinking{Text: "unsigned"}, llm.Text{Text: "  "}}},
		{Role: llm.RoleAssistant, Model: own, Content: llm.Content{
			llm.Thinking{Text: "unsigned"}, llm.Text{Text: "Again."}, llm.Thinking{Text: "late", Signature: "bGF0ZQ=="}, lost,
		}},
		{Role: llm.RoleUser},
		llm.UserText("Well? \xff"),
	}
}

func tools() []llm.Tool {
	return []llm.Tool{
		{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	}
}

func TestRequestOfEverything(t *testing.T) {
	req := &llm.Request{System: "Be brief.", Messages: everything(t), Tools: tools(), Settings: llm.Settings{Thinking: llm.ThinkMedium}}
	for name, model := range map[string]llm.Model{
		"everything":    testModel(),
		"blind":         {Provider: "anthropic", ID: "claude-test", NoTools: true, Quirks: []llm.Quirk{llm.QuirkNoSystem}},
		"other":         {Provider: "compatible", ID: "other-model"},
		"without_cache": testModel(),
	} {
		req.Cache = llm.CacheAuto
		if name == "without_cache" {
			req.Cache = llm.CacheOff
		}
		r, body := sent(t, model, Options{}, req)
		recorded.Golden(t, "testdata/requests/"+name+".json", recorded.Indent(t, body), *update)
		if err := modelserver.Check(modelserver.Anthropic, r, body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := sent(t, model, Options{}, req); !bytes.Equal(body, again) {
			t.Errorf("%s: the same request has other bytes", name)
		}
	}
}

func TestHowServersAreAddressed(t *testing.T) {
	model := testModel()
	key := func(o Options) Options {
		o.Key = "sk-secret"
		return o
	}
	at := func(base string) Options { return Options{Endpoint: wire.Endpoint{BaseURL: base}} }
	onVertex := func(location string) func(Options) *Client {
		return func(o Options) *Client {
			m := model
			m.ID = "claude-test@20250101"
			return NewVertex(m, "my-project", location, o)
		}
	}
	plain := func(o Options) *Client { return New(model, o) }
	const path = "/v1/projects/my-project/locations/"
	tests := []struct {
		make            func(Options) *Client
		o               Options
		url, key, token string
	}{
		{plain, key(Options{}), "https://api.anthropic.com/v1/messages", "sk-secret", ""},
		{plain, Options{}, "https://api.anthropic.com/v1/messages", "", ""},
		{plain, key(at("http://localhost:1/v1")), "http://localhost:1/v1/messages", "sk-secret", ""},
		{plain, key(at("http://localhost:1/v1/")), "http://localhost:1/v1/messages", "sk-secret", ""},
		{plain, key(at("http://localhost:1/api/anthropic")), "http://localhost:1/api/anthropic/v1/messages", "sk-secret", ""},
		{plain, key(Options{Bearer: true}), "https://api.anthropic.com/v1/messages", "", "Bearer sk-secret"},
		{onVertex("us-east5"), key(Options{}), "https://us-east5-aiplatform.googleapis.com" + path + "us-east5/publishers/anthropic/models/claude-test@20250101:streamRawPredict", "", "Bearer sk-secret"},
		{onVertex("global"), key(Options{NoStream: true}), "https://aiplatform.googleapis.com" + path + "global/publishers/anthropic/models/claude-test@20250101:rawPredict", "", "Bearer sk-secret"},
		{onVertex("eu"), key(Options{}), "https://aiplatform.eu.rep.googleapis.com" + path + "eu/publishers/anthropic/models/claude-test@20250101:streamRawPredict", "", "Bearer sk-secret"},
		{onVertex("us-east5"), key(at("http://localhost:1/v1")), "http://localhost:1" + path + "us-east5/publishers/anthropic/models/claude-test@20250101:streamRawPredict", "", "Bearer sk-secret"},
	}
	for _, tt := range tests {
		r, body := sentBy(t, tt.make, tt.o, recorded.Ask())
		if r.URL.String() != tt.url || r.Header.Get("X-Api-Key") != tt.key || r.Header.Get("Authorization") != tt.token {
			t.Errorf("got %s with key %q and token %q, want %+v", r.URL, r.Header.Get("X-Api-Key"), r.Header.Get("Authorization"), tt)
		}
		if vertex := strings.Contains(tt.url, "/projects/"); vertex != bytes.Contains(body, []byte(`"anthropic_version":"vertex-2023-10-16"`)) ||
			vertex == bytes.Contains(body, []byte(`"model":`)) || vertex == (r.Header.Get("Anthropic-Version") == "2023-06-01") {
			t.Errorf("%s: the wrong version or model: %s", tt.url, body)
		}
		if tt.o.NoStream == bytes.Contains(body, []byte(`"stream":true`)) {
			t.Errorf("%s: stream is not as asked: %s", tt.url, body)
		}
	}
}

func TestAuthorizeTakesThePlaceOfTheKey(t *testing.T) {
	o := Options{Endpoint: wire.Endpoint{Key: "sk-secret", Authorize: func(r *http.Request, _ []byte) error {
		r.Header.Set("Authorization", "Bearer fresh")
		return nil
	}}}
	r, _ := sentBy(t, func(o Options) *Client { return NewVertex(testModel(), "p", "global", o) }, o, recorded.Ask())
	if got := r.Header.Values("Authorization"); !slices.Equal(got, []string{"Bearer fresh"}) || r.Header.Get("X-Api-Key") != "" {
		t.Errorf("got %q", r.Header)
	}
}

func TestVertexNeedsAPlace(t *testing.T) {
	_, err := llm.Collect(t.Context(), NewVertex(testModel(), "", "global", Options{}), recorded.Ask())
	if e := llm.AsError(err); e.Kind != llm.KindInvalidRequest || !strings.Contains(e.Message, "project") {
		t.Errorf("got %v", err)
	}
}

func TestRequestWithoutJSON(t *testing.T) {
	req := recorded.Ask()
	req.Tools = []llm.Tool{{Name: "x", Schema: json.RawMessage(`{`)}}
	_, err := llm.Collect(t.Context(), New(testModel(), Options{}), req)
	if e := llm.AsError(err); e.Kind != llm.KindInvalidRequest {
		t.Errorf("got %v", err)
	}
}

// body is what matters of a request to the tests below.
type body struct {
	MaxTokens   int             `json:"max_tokens"`
	Temperature *float64        `json:"temperature"`
	Thinking    json.RawMessage `json:"thinking"`
	Output      json.RawMessage `json:"output_config"`
	ToolChoice  json.RawMessage `json:"tool_choice"`
	Tools       []struct{ Name string }
	System      []struct{ Text string }
}

func bodyOf(t testing.TB, model llm.Model, req *llm.Request) body {
	t.Helper()
	r, data := sent(t, model, Options{}, req)
	rules := modelserver.Rules{AdaptiveThinking: model.Has(llm.QuirkAdaptiveThinking), NoTemperature: model.Has(llm.QuirkNoTemperature)}
	if err := rules.Check(modelserver.Anthropic, r, data); err != nil {
		t.Errorf("%v: %s", err, data)
	}
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestThinking(t *testing.T) {
	budget := llm.Model{Provider: "anthropic", ID: "x"}
	adaptive := llm.Model{Provider: "anthropic", ID: "x", Quirks: []llm.Quirk{llm.QuirkAdaptiveThinking}}
	with := func(m llm.Model, levels ...llm.Thinks) llm.Model {
		m.Thinks = levels
		return m
	}
	coding := func(m llm.Model) llm.Model {
		m.Thinking = llm.ThinkMedium
		return m
	}
	enabled := func(n string) string { return `{"type":"enabled","budget_tokens":` + n + `}` }
	const adapts, disabled = `{"type":"adaptive","display":"summarized"}`, `{"type":"disabled"}`
	tests := []struct {
		model            llm.Model
		level            llm.Thinks
		max              int
		thinking, output string
	}{
		{budget, llm.ThinkDefault, 0, "", ""},
		{budget, llm.ThinkOff, 0, disabled, ""},
		{budget, llm.ThinkMinimal, 0, enabled("1024"), ""},
		{budget, llm.ThinkLow, 10_000, enabled("8192"), ""},
		{budget, llm.ThinkMedium, 20_000, enabled("16384"), ""},
		{budget, llm.ThinkHigh, 40_000, enabled("32768"), ""},
		{budget, llm.ThinkMax, 40_000, enabled("32768"), ""},
		{coding(budget), llm.ThinkDefault, 20_000, enabled("16384"), ""},
		{coding(budget), llm.ThinkProvider, 20_000, "", ""},
		{coding(budget), llm.ThinkOff, 20_000, disabled, ""},
		{budget, llm.ThinkHigh, 8192, enabled("4096"), ""},
		{budget, llm.ThinkHigh, 1500, enabled("1024"), ""},
		{budget, llm.ThinkHigh, 1024, "", ""},
		{with(budget, llm.ThinkOff), llm.ThinkHigh, 0, "", ""},
		{with(budget, llm.ThinkOff), llm.ThinkOff, 0, "", ""},
		{with(budget, llm.ThinkHigh), llm.ThinkOff, 0, "", ""},
		{adaptive, llm.ThinkDefault, 0, "", ""},
		{adaptive, llm.ThinkOff, 0, disabled, ""},
		{adaptive, llm.ThinkMinimal, 0, adapts, `{"effort":"low"}`},
		{adaptive, llm.ThinkLow, 0, adapts, `{"effort":"low"}`},
		{adaptive, llm.ThinkMedium, 0, adapts, `{"effort":"medium"}`},
		{adaptive, llm.ThinkHigh, 100, adapts, `{"effort":"high"}`},
		{adaptive, llm.ThinkMax, 100, adapts, `{"effort":"high"}`},
		{with(adaptive, llm.Levels()...), llm.ThinkXHigh, 100, adapts, `{"effort":"xhigh"}`},
		{with(adaptive, llm.Levels()...), llm.ThinkMax, 100, adapts, `{"effort":"max"}`},
		{with(adaptive, llm.ThinkHigh, llm.ThinkMax), llm.ThinkXHigh, 100, adapts, `{"effort":"high"}`},
		{coding(adaptive), llm.ThinkDefault, 0, adapts, `{"effort":"medium"}`},
		{with(adaptive, llm.ThinkLow), llm.ThinkOff, 0, adapts, `{"effort":"low"}`},
	}
	for _, tt := range tests {
		req := recorded.Ask()
		req.Thinking, req.MaxTokens = tt.level, tt.max
		if b := bodyOf(t, tt.model, req); string(b.Thinking) != tt.thinking || string(b.Output) != tt.output {
			t.Errorf("%+v: got %s and %s", tt, b.Thinking, b.Output)
		}
	}
}

// The API refuses a turn with calls that did not begin with thinking, when a budget for thinking is given.
func TestThinkingWaitsForTheNextTurn(t *testing.T) {
	call := llm.ToolCall{ID: "1", Name: "look", Arguments: "{}"}
	thought := llm.Thinking{Text: "hm", Signature: "c2ln"}
	own := llm.Message{Role: llm.RoleAssistant, Model: "anthropic/claude-x", Content: llm.Content{thought, call}}
	bare := llm.Message{Role: llm.RoleAssistant, Model: "anthropic/claude-x", Content: llm.Content{call}}
	foreign := own
	foreign.Model = "openai/x"
	result := llm.ToolText(call, "seen", false)
	hello := llm.UserText("Hello")
	tests := map[string]struct {
		conversation []llm.Message
		thinks       bool
	}{
		"first message":                    {[]llm.Message{hello}, true},
		"its own call":                     {[]llm.Message{hello, own, result}, true},
		"its own second call":              {[]llm.Message{hello, own, result, own, result}, true},
		"a call of another":                {[]llm.Message{hello, foreign, result}, false},
		"a call of another, steered":       {[]llm.Message{hello, foreign, result, hello}, false},
		"a call of another, then its own":  {[]llm.Message{hello, bare, result, own, result}, false},
		"a call of another, then an end":   {[]llm.Message{hello, foreign, result, llm.AssistantText("so"), hello}, true},
		"thinking only before first calls": {[]llm.Message{hello, own, result, bare, result}, true},
	}
	for name, tt := range tests {
		req := &llm.Request{Messages: tt.conversation, Tools: tools(), Settings: llm.Settings{Thinking: llm.ThinkLow}}
		if b := bodyOf(t, testModel(), req); (b.Thinking != nil) != tt.thinks {
			t.Errorf("%s: thinking is %s", name, b.Thinking)
		}
	}
}

// A signature means something only to models of the maker who gave it, and a provider such as Vertex has models of several.
func TestWhoseThinkingGoesBack(t *testing.T) {
	for _, tt := range []struct {
		author, asked string
		back          bool
	}{
		{"vertex/claude-opus-4-6", "claude-sonnet-4-6", true},
		{"vertex/gemini-3-pro", "claude-sonnet-4-6", false},
		{"anthropic/claude-opus-4-6", "claude-sonnet-4-6", false},
		{"vertex/minimax-m2", "minimax-m2.1", true},
		{"vertex/claude-opus-4-6", "minimax-m2", false},
		{"", "claude-sonnet-4-6", false},
	} {
		c := New(llm.Model{Provider: "vertex", ID: tt.asked}, Options{})
		body := c.request(&llm.Request{Messages: []llm.Message{llm.UserText("Hello"), {
			Role: llm.RoleAssistant, Model: tt.author,
			Content: llm.Content{llm.Thinking{Text: "Hm.", Signature: "c2ln"}, llm.Text{Text: "Hi."}},
		}, llm.UserText("Go on.")}})
		if back := body.Messages[1].Content[0].Type == "thinking"; back != tt.back {
			t.Errorf("that of %s to %s: %v", tt.author, tt.asked, back)
		}
	}
}

// An answer that was cut in its last thought ends with thinking, which is refused.
func TestThinkingAtTheEndStaysBehind(t *testing.T) {
	own := llm.Message{Role: llm.RoleAssistant, Model: "anthropic/claude-x", Content: llm.Content{
		llm.Thinking{Text: "Hm.", Signature: "c2ln"}, llm.Text{Text: "Well,"}, llm.Thinking{Text: "But.", Signature: "c2ln"},
	}}
	req := &llm.Request{Messages: []llm.Message{llm.UserText("Hello"), own, llm.UserText("Go on.")}}
	r, body := sent(t, testModel(), Options{}, req)
	if err := modelserver.Check(modelserver.Anthropic, r, body); err != nil || !bytes.Contains(body, []byte("Hm.")) {
		t.Errorf("%v\n%s", err, body)
	}
}

func TestThinkingBetweenCalls(t *testing.T) {
	beta := func(o Options, m llm.Model, req *llm.Request) string {
		r, _ := sent(t, m, o, req)
		return r.Header.Get("Anthropic-Beta")
	}
	req := &llm.Request{Messages: recorded.Ask().Messages, Tools: tools(), Settings: llm.Settings{Thinking: llm.ThinkLow}}
	if got := beta(Options{}, testModel(), req); got != "interleaved-thinking-2025-05-14" {
		t.Errorf("got %q", got)
	}
	adaptive := testModel()
	adaptive.Quirks = []llm.Quirk{llm.QuirkAdaptiveThinking}
	elsewhere := Options{Endpoint: wire.Endpoint{BaseURL: "http://localhost:1"}}
	if a, b, c := beta(elsewhere, testModel(), req), beta(Options{}, adaptive, req), beta(Options{}, testModel(), recorded.Ask()); a+b+c != "" {
		t.Errorf("got %q, %q, %q, want none", a, b, c)
	}
}

// A model with bound thinking may omit earlier thinking that no longer fits. Otherwise it refuses each request after a summary.
func TestBoundThinking(t *testing.T) {
	bound := testModel()
	bound.Quirks, bound.Thinks = []llm.Quirk{llm.QuirkAdaptiveThinking, llm.QuirkBoundThinking}, []llm.Thinks{llm.ThinkLow, llm.ThinkHigh}
	for _, level := range []llm.Thinks{llm.ThinkDefault, llm.ThinkOff, llm.ThinkLow, llm.ThinkMax} {
		r, body := sent(t, bound, Options{}, &llm.Request{Messages: recorded.Ask().Messages, Settings: llm.Settings{Thinking: level}})
		if got := r.Header.Get("Anthropic-Beta"); got != "thinking-binding-controls-2026-08-01" {
			t.Errorf("%q: beta %q", level, got)
		}
		want := `"thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%q: got %s", level, body)
		}
	}
	bound.Thinks = append(bound.Thinks, llm.ThinkOff)
	off := &llm.Request{Messages: recorded.Ask().Messages, Settings: llm.Settings{Thinking: llm.ThinkOff}}
	if r, body := sent(t, bound, Options{}, off); r.Header.Get("Anthropic-Beta") != "" || !bytes.Contains(body, []byte(`"thinking":{"type":"disabled"}`)) {
		t.Errorf("without thinking: %s, %s", r.Header.Get("Anthropic-Beta"), body)
	}
}

func TestToolChoiceAndSchema(t *testing.T) {
	const strict = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	const loose = `{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`
	plain, adaptive := testModel(), testModel()
	adaptive.Quirks = []llm.Quirk{llm.QuirkAdaptiveThinking}
	native, toolless, thinker := testModel(), testModel(), adaptive
	native.Quirks = []llm.Quirk{llm.QuirkNativeSchema}
	toolless.NoTools = true
	thinker.Thinks = []llm.Thinks{llm.ThinkLow}
	const final = `{"type":"tool","name":"final_answer"}`
	tests := []struct {
		name                         string
		model                        llm.Model
		req                          llm.Request
		choice, tools, output, think string
		instructed                   bool
	}{
		{"auto", plain, llm.Request{Tools: tools()}, "", "look read", "", "", false},
		{"no tools", plain, llm.Request{ToolChoice: llm.ToolRequired}, "", "", "", "", false},
		{"none", plain, llm.Request{Tools: tools(), ToolChoice: llm.ToolNone}, `{"type":"none"}`, "look read", "", "", false},
		{"required", plain, llm.Request{Tools: tools(), ToolChoice: llm.ToolRequired}, `{"type":"any"}`, "look read", "", "", false},
		{"required, adaptive", adaptive, llm.Request{Tools: tools(), ToolChoice: llm.ToolRequired}, `{"type":"any"}`, "look read", "", `{"type":"disabled"}`, false},
		{"required, thinking", plain, llm.Request{Tools: tools(), ToolChoice: llm.ToolRequired, Settings: llm.Settings{Thinking: llm.ThinkMinimal}}, "", "look read", "", `{"type":"enabled","budget_tokens":1024}`, false},
		{"required, always thinking", thinker, llm.Request{Tools: tools(), ToolChoice: llm.ToolRequired}, "", "look read", "", "", false},
		{"schema alone", plain, llm.Request{Settings: llm.Settings{Schema: []byte(strict)}}, final, "final_answer", "", "", false},
		{"schema and tools", plain, llm.Request{Settings: llm.Settings{Schema: []byte(strict)}, Tools: tools()}, `{"type":"any"}`, "look read final_answer", "", "", false},
		{"schema now", plain, llm.Request{Settings: llm.Settings{Schema: []byte(strict)}, Tools: tools(), ToolChoice: llm.ToolNone}, final, "look read final_answer", "", "", false},
		{"schema, thinking", plain, llm.Request{Settings: llm.Settings{Schema: []byte(strict), Thinking: llm.ThinkMinimal}}, "", "final_answer", "", `{"type":"enabled","budget_tokens":1024}`, true},
		{"schema, native", native, llm.Request{Settings: llm.Settings{Schema: []byte(strict)}, Tools: tools()}, "", "look read", `{"format":{"type":"json_schema","schema":` + strict + `}}`, "", false},
		{"schema that cannot be enforced", native, llm.Request{Settings: llm.Settings{Schema: []byte(loose)}}, final, "final_answer", "", "", false},
		{"schema of a list", plain, llm.Request{Settings: llm.Settings{Schema: []byte(`{"type":"array"}`)}}, "", "", "", "", true},
		{"schema without tools", toolless, llm.Request{Settings: llm.Settings{Schema: []byte(strict)}, Tools: tools()}, "", "", "", "", true},
	}
	for _, tt := range tests {
		tt.req.Messages = recorded.Ask().Messages
		b := bodyOf(t, tt.model, &tt.req)
		var names []string
		for _, tool := range b.Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); string(b.ToolChoice) != tt.choice || got != tt.tools || string(b.Output) != tt.output ||
			string(b.Thinking) != tt.think || (len(b.System) > 0) != tt.instructed {
			t.Errorf("%s: got choice %s, tools %s, output %s, thinking %s, system %v", tt.name, b.ToolChoice, got, b.Output, b.Thinking, b.System)
		}
	}
}

func TestEnforceableSchemas(t *testing.T) {
	const open, end = `{"type":"object","additionalProperties":false,"properties":{"a":`, `}}`
	tests := map[string]bool{
		open + `{"type":"string","enum":["a"],"description":"d"}` + end:                       true,
		open + `{"type":"array","items":{"anyOf":[{"type":"null"},{"type":"string"}]}}` + end: true,
		open + `{"type":"object","properties":{}}` + end:                                      false,
		open + `{"type":"array","items":{"type":"object"}}` + end:                             false,
		open + `{"anyOf":[{"type":"object"}]}` + end:                                          false,
		open + `{"type":"string","maxLength":3}` + end:                                        false,
		open + `{"type":"array","minItems":2}` + end:                                          false,
		open + `{"$ref":"#"}` + end:                                                           false,
		open + strings.Repeat(`{"items":`, 50) + `true` + strings.Repeat(`}`, 50) + end:       false,
		`{"type":"object","additionalProperties":false,"$defs":{"a":{"type":"object"}}}`:      false,
		`{"type":"string"}`: false,
		`[]`:                false,
	}
	for schema, want := range tests {
		if got := enforceable([]byte(schema)); got != want {
			t.Errorf("%s: got %v", schema, got)
		}
	}
}

func TestLimitOfTheAnswer(t *testing.T) {
	tests := []struct {
		max, context, asked, bytes, want int
	}{
		{0, 0, 0, 0, 8192},
		{4000, 0, 0, 0, 4000},
		{64_000, 0, 0, 0, 32_000},
		{64_000, 0, 50_000, 0, 50_000},
		{64_000, 0, 100_000, 0, 64_000},
		{0, 0, 100, 0, 100},
		{64_000, 200_000, 0, 3 * 180_000, 200_000 - 180_000 - 1024 - 8},
		{64_000, 200_000, 0, 3 * 300_000, 4096},
	}
	for _, tt := range tests {
		model := llm.Model{Provider: "anthropic", ID: "x", MaxOutput: tt.max, Context: tt.context}
		req := recorded.Ask()
		req.MaxTokens = tt.asked
		if tt.bytes > 0 {
			req.Messages = []llm.Message{llm.UserText(strings.Repeat("a", tt.bytes))}
		}
		if b := bodyOf(t, model, req); b.MaxTokens != tt.want {
			t.Errorf("%+v: got %d", tt, b.MaxTokens)
		}
	}
}

func TestTemperature(t *testing.T) {
	warm, quiet := 1.5, testModel()
	quiet.Quirks = []llm.Quirk{llm.QuirkNoTemperature}
	req := recorded.Ask()
	req.Temperature = &warm
	if b := bodyOf(t, testModel(), req); b.Temperature == nil || *b.Temperature != 1 {
		t.Errorf("got %v, want the most that the API takes", b.Temperature)
	}
	if b := bodyOf(t, quiet, req); b.Temperature != nil {
		t.Errorf("got %v of a model that takes none", *b.Temperature)
	}
	req.Thinking = llm.ThinkLow
	if b := bodyOf(t, testModel(), req); b.Temperature != nil {
		t.Errorf("got %v together with thinking", *b.Temperature)
	}
}

// Each request of a growing conversation begins as the one before, so that the provider's cache hits.
func TestPrefixStays(t *testing.T) {
	all := everything(t)
	req := &llm.Request{System: "s", Tools: tools(), Settings: llm.Settings{Cache: llm.CacheOff}}
	before := ""
	for n := range all {
		if all[n].Role != llm.RoleUser || n+1 < len(all) && all[n+1].Role == llm.RoleUser || len(all[n].Content) == 0 {
			continue // only what a model could have been asked
		}
		req.Messages = all[:n+1]
		_, data := sent(t, testModel(), Options{}, req)
		if !strings.HasPrefix(string(data), before) {
			t.Errorf("after %d messages: got\n%s\nwhich does not begin with\n%s", n+1, data, before)
		}
		before = strings.TrimSuffix(string(data), "]}")
	}
}

// A policy may choose where the marks of the prompt cache stand.
func TestChosenMarks(t *testing.T) {
	for policy, want := range map[llm.CachePolicy]int{
		llm.CacheAuto: 4, llm.CacheOff: 0, llm.CacheSystem: 1, llm.CacheTools: 1, llm.CacheMessages: 2, "system,tools": 2,
	} {
		_, data := sent(t, testModel(), Options{}, &llm.Request{System: "s", Tools: tools(), Messages: everything(t), Settings: llm.Settings{Cache: policy}})
		if got := strings.Count(string(data), "cache_control"); got != want {
			t.Errorf("%q: %d marks, want %d", policy, got, want)
		}
	}
}
