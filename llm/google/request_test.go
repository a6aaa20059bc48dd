package google_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/wire"
)

// sent returns the request that a client sends.
func sent(t testing.TB, make func(o google.Options) *google.Client, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	var got *http.Request
	var body []byte
	c := make(on(server(func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return sse(theEnd)(r)
	})))
	if _, err := llm.Collect(t.Context(), c, req); err != nil {
		t.Fatal(err)
	}
	return got, body
}

func gemini(m llm.Model) func(google.Options) *google.Client {
	return func(o google.Options) *google.Client { return google.New(m, o) }
}

func vertex(m llm.Model) func(google.Options) *google.Client {
	m.Provider = "vertex"
	return func(o google.Options) *google.Client { return google.NewVertex(m, "my-project", "europe-west4", o) }
}

var (
	pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	pdf   = []byte("%PDF-1.7\n")
)

func signed(signature string) json.RawMessage {
	return json.RawMessage(`{"thoughtSignature":"` + signature + `"}`)
}

// everything is a conversation with all that can be in one, of that model and of others.
func everything(model string) *llm.Request {
	hot := 0.5
	a := llm.ToolCall{ID: "a", Name: "look", Arguments: `{"path":"x"}`, Opaque: json.RawMessage(`{"thoughtSignature":"b3du","id":"a"}`)}
	b := llm.ToolCall{ID: "b", Name: "9lives", Arguments: `{"n":1,"n":2}`}
	c := llm.ToolCall{ID: "c!", Name: "look", Arguments: `{"pa`, Opaque: signed("Zm9yZWlnbg==")}
	lost := llm.ToolCall{ID: "a", Name: "look", Arguments: ``}
	return &llm.Request{
		System: "Be brief.",
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: llm.Content{
				llm.Text{Text: "What is this?"},
				llm.Image{MIME: "image/jpeg", Data: pixel},
				llm.Document{Name: "a.pdf", Data: pdf},
				llm.Document{MIME: "text/plain", Name: "b.txt", Data: []byte("notes")},
				llm.Image{Blob: "gone"},
			}},
			{Role: llm.RoleAssistant, Model: model, Content: llm.Content{
				llm.Thinking{Text: "A summary."},
				llm.Thinking{Signature: "dGhvdWdodA=="},
				llm.Text{Text: "I look."},
				llm.Text{Opaque: signed("dGV4dA==")},
				a, b,
			}},
			llm.ToolText(b, "no such file", true),
			{Role: llm.RoleTool, CallID: "a", Tool: "look", Content: llm.Content{llm.Text{Text: "seen"}, llm.Image{Data: pixel}}},
			llm.UserText("Go on."),
			{Role: llm.RoleAssistant, Model: "anthropic/claude", Content: llm.Content{
				llm.Thinking{Text: "Foreign.", Signature: "Zm9yZWlnbg=="}, llm.Text{Text: "Yes.", Opaque: signed("Zm9yZWlnbg==")}, c, lost,
			}},
			llm.ToolText(c, "", false),
			{Role: llm.RoleAssistant, Model: model},
			{Role: llm.RoleUser},
		},
		Tools: []llm.Tool{
			{Name: "9lives", Description: "A name that must not begin so."},
			{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"path":{"type":"string"},"n":{"type":["integer","null"],"exclusiveMinimum":0}},"additionalProperties":false}`)},
		},
		Settings: llm.Settings{MaxTokens: 1000, Temperature: &hot, Thinking: llm.ThinkLow},
	}
}

func indent(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", " "); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}

func TestRequests(t *testing.T) {
	schema := everything("gemini/gemini-2.5-flash")
	schema.Schema, schema.ToolChoice = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), llm.ToolNone
	plain := &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}, Settings: llm.Settings{Schema: schema.Schema, Thinking: llm.ThinkOff}}
	simple := flash()
	simple.NoTools, simple.Images, simple.Documents = true, false, false
	simple.ID, simple.Quirks = "gemma-3-27b-it", []llm.Quirk{llm.QuirkNoSystem, llm.QuirkNoTemperature}
	required := everything("gemini/gemini-3-pro-preview")
	required.ToolChoice, required.Schema = llm.ToolRequired, schema.Schema
	for _, test := range []struct {
		name string
		make func(google.Options) *google.Client
		req  *llm.Request
	}{
		{"everything", gemini(flash()), everything("gemini/gemini-2.5-flash")},
		{"everything_vertex", vertex(flash()), everything("vertex/gemini-2.5-flash")},
		{"everything_strict", gemini(pro3()), everything("gemini/gemini-3-pro-preview")},
		{"everything_simple", gemini(simple), everything("gemini/gemma-3-27b-it")},
		{"schema_with_tools", gemini(flash()), schema},
		{"schema_native", gemini(pro3()), required},
		{"schema_plain", gemini(flash()), plain},
		{"nothing", gemini(llm.Model{Provider: "gemini", ID: "gemini-2.0-flash"}), &llm.Request{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, body := sent(t, test.make, test.req)
			golden(t, "request/"+test.name+".json", indent(t, body))
			protocol, rules := modelserver.Gemini, modelserver.Rules{ThoughtSignatures: strings.Contains(test.name, "strict")}
			if strings.Contains(r.URL.Path, "/projects/") {
				protocol = modelserver.GeminiVertex
			}
			if err := rules.Check(protocol, r, body); err != nil {
				t.Error(err)
			}
			if _, again := sent(t, test.make, test.req); !bytes.Equal(body, again) {
				t.Error("the same request gave other bytes")
			}
		})
	}
}

// Each request repeats the beginning of the conversation unchanged, so that the provider's cache hits.
func TestAGrowingConversationKeepsItsBeginning(t *testing.T) {
	for _, m := range []llm.Model{flash(), pro3()} {
		all := everything(m.Ref())
		var before []json.RawMessage
		for n := range all.Messages {
			if n > 0 && all.Messages[n].Role == llm.RoleTool {
				continue // a request is sent when all results are there
			}
			req := *all
			req.Messages = all.Messages[:n]
			_, body := sent(t, gemini(m), &req)
			var now struct{ Contents []json.RawMessage }
			if err := json.Unmarshal(body, &now); err != nil {
				t.Fatal(err)
			}
			for i, c := range before {
				if i == len(before)-1 && strings.Contains(string(c), "Continue.") {
					break // the substitute for a person's message
				}
				begun := strings.TrimSuffix(string(c), "]}") // more of a person's words may come
				if !strings.HasPrefix(string(now.Contents[i]), begun) || i < len(before)-1 && string(c) != string(now.Contents[i]) {
					t.Errorf("with %d messages content %d is\n%s\nand was\n%s", n, i, now.Contents[i], c)
				}
			}
			before = now.Contents
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(o google.Options) *google.Client
		want string
	}{
		{"Gemini", gemini(flash()), "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"Vertex AI", vertex(flash()), "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"the world", func(o google.Options) *google.Client { return google.NewVertex(flash(), "p/q", "", o) }, "https://aiplatform.googleapis.com/v1/projects/p%2Fq/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"a continent", func(o google.Options) *google.Client { return google.NewVertex(flash(), "p", "eu", o) }, "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"whole", func(o google.Options) *google.Client { o.NoStream = true; return google.New(flash(), o) }, "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"},
		{"a gateway", func(o google.Options) *google.Client {
			o.BaseURL = "http://localhost:8080/gemini/v1beta/?team=a"
			return google.New(flash(), o)
		}, "http://localhost:8080/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse&team=a"},
		{"a tuned model", gemini(llm.Model{Provider: "gemini", ID: "tunedModels/my model"}), "https://generativelanguage.googleapis.com/v1beta/tunedModels/my%20model:streamGenerateContent?alt=sse"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _ := sent(t, test.make, hi())
			if got := r.URL.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if strings.Contains(r.URL.String(), key) {
				t.Error("the key is in the URL")
			}
			isVertex := strings.Contains(test.want, "/projects/")
			if got := r.Header.Get("Authorization"); isVertex != (got == "Bearer "+key) {
				t.Errorf("Authorization is %q", got)
			}
			if got := r.Header.Get("X-Goog-Api-Key"); isVertex == (got == key) {
				t.Errorf("X-Goog-Api-Key is %q", got)
			}
		})
	}
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	never := server(func(*http.Request) (*http.Response, error) { panic("a request was sent") })
	bad := hi()
	bad.Tools = []llm.Tool{{Name: "x", Schema: json.RawMessage(`{"type":`)}}
	answer := hi()
	answer.Schema = json.RawMessage(`{`)
	for _, test := range []struct {
		c    *google.Client
		req  *llm.Request
		want string
	}{
		{google.New(flash(), on(never)), bad, "the schema of the tool x is no JSON"},
		{google.New(flash(), on(never)), answer, "cannot be written as JSON"},
		{google.NewVertex(flash(), "", "global", google.Options{Endpoint: wire.Endpoint{Key: key}}), hi(), "set GOOGLE_CLOUD_PROJECT"},
	} {
		_, err := llm.Collect(t.Context(), test.c, test.req)
		if e := llm.AsError(err); e == nil || e.Kind != llm.KindInvalidRequest || e.Model != flash().Ref() || !strings.Contains(e.Message, test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// Names of tools that the protocol refuses come back as they were.
func TestNamesOfTools(t *testing.T) {
	req := hi()
	req.Tools = []llm.Tool{{Name: "9lives"}, {Name: "default_api.odd"}, {Name: "look"}}
	for sentAs, want := range map[string]string{
		"_9lives": "9lives", "look": "look", "default_api.look": "look", "default_api:_9lives": "9lives", "unknown": "unknown",
		"default_api.unknown": "default_api.unknown",
	} {
		body := `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"` + sentAs + `"}}]},"finishReason":"STOP"}]}`
		m, err := llm.Collect(t.Context(), google.New(flash(), on(sse(body))), req)
		if err != nil || len(m.Calls()) != 1 || m.Calls()[0].Name != want {
			t.Errorf("%s: got %+v, %v", sentAs, m.Calls(), err)
		}
	}
}

// A structured answer comes as text, whether the model was held to the schema or made to call a tool.
func TestStructuredAnswers(t *testing.T) {
	req := everything("gemini/gemini-2.5-flash")
	req.Schema = json.RawMessage(`{"type":"object"}`)
	body := `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"final_answer","args":{"a": "b"}},"thoughtSignature":"YQ=="}]},"finishReason":"STOP"}]}`
	m, err := llm.Collect(t.Context(), google.New(flash(), on(sse(body))), req)
	if err != nil || m.Text() != `{"a":"b"}` || m.Stop != llm.StopEnd || len(m.Content) != 1 {
		t.Errorf("got %+v, %v", m, err)
	}
}
