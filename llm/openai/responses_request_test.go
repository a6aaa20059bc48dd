package openai_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// respPNG is an image of one pixel.
func respPNG() []byte {
	data, _ := base64.StdEncoding.DecodeString(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	return data
}

func respThought(id string) llm.Thinking {
	return llm.Thinking{Text: "I think.", Opaque: json.RawMessage(
		`{"type":"reasoning","id":"` + id + `","summary":[{"type":"summary_text","text":"I think."}],"encrypted_content":"gAAAA-` + id + `"}`)}
}

func respTool(name string) llm.Tool {
	return llm.Tool{
		Name: name, Description: "Does " + name + ".",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
	}
}

// respEverything is a conversation with everything in it that a journal may have.
func respEverything() *llm.Request {
	call := func(id, name string) llm.ToolCall { return llm.ToolCall{ID: id, Name: name, Arguments: `{"path":"a"}`} }
	result := func(id, text string, more ...llm.Part) llm.Message {
		return llm.Message{Role: llm.RoleTool, CallID: id, Tool: "read", Content: append(llm.Content{llm.Text{Text: text}}, more...)}
	}
	answer := func(model string, parts ...llm.Part) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, Model: model, Content: parts}
	}
	return &llm.Request{
		System: "You are <careful> & exact.",
		Tools:  []llm.Tool{{Name: "pwd", Description: "Tells the directory."}, respTool("read")},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: llm.Content{
				llm.Text{Text: "What is this?"},
				llm.Image{MIME: "image/png", Data: respPNG()},
				llm.Document{MIME: "application/pdf", Data: []byte("%PDF-1.7 x")},
				llm.Document{MIME: "text/plain", Name: "a.txt", Data: []byte("plain")},
			}},
			answer("openai/gpt-5", respThought("rs_1"), llm.Text{Text: "I look.", Opaque: json.RawMessage(`{"phase":"commentary"}`)},
				call("call_1", "read"), respThought("rs_2"), call("call_2", "read")),
			result("call_2", "second", llm.Image{MIME: "image/png", Data: respPNG()}),
			result("call_1", "first"),
			answer("openai/gpt-5", respThought("rs_3"), llm.Text{Text: " "}),
			answer("anthropic/claude", llm.Thinking{Text: "Hm.", Signature: "sig"}, llm.Text{Text: "An image.", Opaque: json.RawMessage(`{"phase":"x"}`)},
				call("toolu.odd:id", "read"), call("lost", "re ad")),
			result("toolu.odd:id", ""),
			llm.UserText("  "),
			llm.UserText("Go on."),
			answer("openai/gpt-5-mini", respThought("rs_1"), llm.Thinking{Text: "lost", Opaque: json.RawMessage(`{"type":"reasoning","id":"rs_9","summary":[]}`)},
				llm.Text{Text: "Done."}, respThought("rs_4")),
			llm.UserText("Thanks."),
		},
	}
}

// Each request is, byte for byte, the one in testdata; and a server takes it.
func TestResponsesRequests(t *testing.T) {
	warm := 0.5
	o, azure := openai.ResponsesOptions{}, openai.ResponsesOptions{
		Endpoint: wire.Endpoint{BaseURL: "https://name.openai.azure.com"}, Azure: &openai.Azure{APIVersion: "2025-04-01-preview", Deployment: "mine"},
	}
	plain := llm.Model{Provider: "openai", ID: "gpt-4o", Thinks: []llm.Thinks{llm.ThinkOff}}
	for name, c := range map[string]struct {
		model  llm.Model
		o      openai.ResponsesOptions
		change func(*llm.Request)
	}{
		"everything": {respModel(), o, func(*llm.Request) {}},
		"plain": {plain, o, func(r *llm.Request) { // a model that neither sees nor reasons
			r.Temperature, r.ToolChoice, r.MaxTokens = &warm, llm.ToolRequired, 7
		}},
		"azure": {respModel(), azure, func(r *llm.Request) { r.Thinking, r.ToolChoice = llm.ThinkHigh, llm.ToolNone }},
		"no_tools": {
			llm.Model{Provider: "openai", ID: "o1-mini", NoTools: true, Quirks: []llm.Quirk{llm.QuirkNoSystem}},
			openai.ResponsesOptions{NoStream: true},
			func(r *llm.Request) { r.Cache = llm.CacheOff },
		},
		"schema": {respModel(), o, func(r *llm.Request) {
			r.Messages = r.Messages[:0]
			r.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			req := respEverything()
			c.change(req)
			sent, body := respSent(t, c.model, c.o, req)
			if err := modelserver.Check(modelserver.OpenAIResponses, sent, body); err != nil {
				t.Errorf("a server would refuse it: %v", err)
			}
			head := sent.Method + " " + sent.URL.String() + "\n"
			for _, h := range []string{"Authorization", "Api-Key", "Accept", "Content-Type"} {
				head += h + ": " + sent.Header.Get(h) + "\n"
			}
			recorded.Golden(t, "testdata/responses/requests/"+name+".txt", head+recorded.Indent(t, body), *update)
			if _, again := respSent(t, c.model, c.o, req); !bytes.Equal(body, again) {
				t.Error("the same request has other bytes the second time")
			}
		})
	}
}

// While a conversation grows, its requests begin as they did before, so that the cache of the server hits.
func TestResponsesPrefix(t *testing.T) {
	req := respEverything()
	var last respInputOf
	for n := 1; n <= len(req.Messages); n++ {
		if role := req.Messages[n-1].Role; n < len(req.Messages) && (role == llm.RoleAssistant || req.Messages[n].Role == llm.RoleTool) {
			continue // between these no request is sent
		}
		part := *req
		part.Messages = req.Messages[:n]
		var now respInputOf
		_, body := respSent(t, respModel(), openai.ResponsesOptions{}, &part)
		if err := json.Unmarshal(body, &now); err != nil {
			t.Fatal(err)
		}
		for i, item := range last.Input {
			if i == len(last.Input)-1 && last.Key == now.Key {
				item = bytes.TrimSuffix(item, []byte("]}")) // more may have come into the user's last message
			}
			if !bytes.HasPrefix(now.Input[i], item) {
				t.Errorf("item %d was\n%s\nand with message %d it is\n%s", i, item, n, now.Input[i])
			}
		}
		if last.Key != "" && last.Key != now.Key {
			t.Errorf("the key of the cache was %s and is %s", last.Key, now.Key)
		}
		last = now
	}
}

type respInputOf struct {
	Key       string `json:"prompt_cache_key"`
	Input     []json.RawMessage
	Max       int `json:"max_output_tokens"`
	Reasoning struct{ Effort, Summary string }
	Text      struct {
		Format struct{ Strict bool }
	}
}

// A level of thinking that a model does not have becomes the nearest one above it, or its highest.
func TestResponsesThinking(t *testing.T) {
	levels := []llm.Thinks{llm.ThinkDefault, llm.ThinkOff, llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	for _, c := range []struct {
		id     string
		thinks []llm.Thinks // as the catalog has them; nil: guessed from the ID
		want   string       // the effort for each of the levels; none: the request does not mention reasoning
	}{
		{"gpt-4o", nil, ""},
		{"gpt-5-chat-latest", nil, ""},
		{"my-deployment", nil, ""},
		{"gpt-", nil, ""},
		{"o", nil, ""},
		{"gpt-5", nil, "- minimal minimal low medium high"},
		{"GPT-5-mini-2025-08-07", nil, "- minimal minimal low medium high"},
		{"openai/gpt-5.1", nil, "- none low low medium high"},
		{"gpt-6", nil, "- none low low medium high"},
		{"gpt-5.2-pro", nil, "- high high high high high"},
		{"gpt-5.1-codex-max", nil, "- low low low medium high"},
		{"o4-mini", nil, "- low low low medium high"},
		{"gpt-oss-120b", nil, "- low low low medium high"},
		{"gpt-5", []llm.Thinks{llm.ThinkOff}, ""},
		{"gpt-5", []llm.Thinks{}, ""},
		{"mine", []llm.Thinks{llm.ThinkOff, llm.ThinkLow}, "- none low low low low"},
		{"mine", []llm.Thinks{llm.ThinkMedium}, "- medium medium medium medium medium"},
	} {
		var got []string
		for _, level := range levels {
			req := recorded.Ask()
			req.Thinking, req.Temperature = level, new(float64)
			_, body := respSent(t, llm.Model{Provider: "openai", ID: c.id, Thinks: c.thinks}, openai.ResponsesOptions{}, req)
			var sent respInputOf
			if err := json.Unmarshal(body, &sent); err != nil {
				t.Fatal(err)
			}
			reasons := sent.Reasoning.Summary == "auto"
			if bytes.Contains(body, []byte("temperature")) == reasons || bytes.Contains(body, []byte("encrypted_content")) != reasons {
				t.Errorf("%s %v: got %s", c.id, c.thinks, body)
			}
			if reasons {
				got = append(got, strings.ReplaceAll(sent.Reasoning.Effort+"-", "", "")[:max(len(sent.Reasoning.Effort), 1)])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %v: got %q, want %q", c.id, c.thinks, strings.Join(got, " "), c.want)
		}
	}
}

// The limit of an answer keeps to what the model writes and to what is left of its window.
func TestResponsesMaxTokens(t *testing.T) {
	long := llm.UserText(strings.Repeat("word ", 6000)) // about 10 000 tokens by the estimate
	image := llm.Message{Role: llm.RoleUser, Content: llm.Content{llm.Image{Data: respPNG()}, llm.Document{MIME: "application/pdf", Data: []byte("%PDF-")}}}
	for _, c := range []struct {
		asked, output, context int
		message                llm.Message
		want                   int
	}{
		{0, 0, 0, long, 0},
		{0, 0, 20_000, long, 0},
		{0, 5000, 0, long, 5000},
		{300, 5000, 0, long, 300},
		{9000, 5000, 0, long, 5000},
		{5, 0, 0, long, 16},
		{0, 50_000, 20_000, long, 20_000 - 10_000 - 1024 - 8},
		{0, 50_000, 8000, long, 1000},
		{0, 50_000, 8000, image, 8000 - 2*1600 - 1024 - 8},
	} {
		model := llm.Model{Provider: "openai", ID: "m", MaxOutput: c.output, Context: c.context, Images: true, Documents: true}
		_, body := respSent(t, model, openai.ResponsesOptions{}, &llm.Request{Settings: llm.Settings{MaxTokens: c.asked}, Messages: []llm.Message{c.message}})
		var sent respInputOf
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Max != c.want {
			t.Errorf("asked %d, output %d, context %d: got %d, want %d", c.asked, c.output, c.context, sent.Max, c.want)
		}
	}
}

// A schema is enforced token by token only if the server would take it in that mode.
func TestResponsesStrictSchema(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 12) + `{"type":"string"}` + strings.Repeat("}", 12)
	closed := func(property string) string {
		return `{"type":"object","properties":{"p":` + property + `},"required":["p"],"additionalProperties":false}`
	}
	for schema, want := range map[string]bool{
		closed(`{"type":"string"}`):                                         true,
		closed(`{"type":["string","null"],"enum":["a",null]}`):              true,
		closed(`{"type":"array","items":` + closed(`{"const":1}`) + `}`):    true,
		closed(`{"anyOf":[{"type":"number","minimum":1},{"type":"null"}]}`): true,
		closed(`{"type":"string","format":"date-time"}`):                    true,
		`{"type":"object","properties":{},"required":[],"additionalProperties":false,"$defs":{"a":{"type":"string"}},"$schema":"x","title":"y"}`: true,

		closed(`{"type":"string","format":"uri"}`): false,
		closed(`{"type":"string","minLength":1}`):  false,
		closed(`{}`):                false,
		closed(`true`):              false,
		closed(`{"type":"object"}`): false,
		closed(`{"type":["object","null"],"properties":{}}`):                                         false,
		closed(`{"anyOf":[{"properties":{"x":{"type":"string"}}}]}`):                                 false,
		closed(`{"anyOf":{"type":"string"}}`):                                                        false,
		closed(`{"allOf":[{"type":"string"}]}`):                                                      false,
		closed(deep):                                                                                 false,
		`{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}`:                    false,
		`{"type":"object","properties":{"p":{"type":"string"}},"additionalProperties":false}`:        false,
		`{"type":"object","properties":[],"required":[],"additionalProperties":false}`:               false,
		`{"type":"array","items":{"type":"string"}}`:                                                 false,
		`{"type":"object","anyOf":[{"type":"string"}],"additionalProperties":false,"properties":{}}`: false,
		`[]`: false,
	} {
		req := recorded.Ask()
		req.Schema = json.RawMessage(schema)
		_, body := respSent(t, respModel(), openai.ResponsesOptions{}, req)
		var sent respInputOf
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Text.Format.Strict != want {
			t.Errorf("%s: strict is %t", schema, !want)
		}
	}
}

// If a schema is not JSON, the client returns an error and sends no request.
func TestResponsesMalformedSchema(t *testing.T) {
	req := recorded.Ask()
	req.Tools = []llm.Tool{{Name: "a", Schema: json.RawMessage(`{"type":`)}}
	c := respAnswering(respJSON, strings.NewReader(`{}`))
	_, err := llm.Collect(t.Context(), c, req)
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindInvalidRequest || !strings.Contains(e.Message, "schema") {
		t.Errorf("got %v", err)
	}
}
