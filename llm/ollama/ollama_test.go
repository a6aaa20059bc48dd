package ollama_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/ollama"
	"github.com/tenon-agent/tenon/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers requests in memory.
type server func(*http.Request) (*http.Response, error)

func (s server) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// reply answers with a status, a media type and a body, and keeps the body of the last request.
func reply(status int, media, body string, last *[]byte) server {
	return func(r *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(r.Body)
		if last != nil {
			*last = data
		}
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
		}, err
	}
}

func on(t http.RoundTripper) ollama.Options {
	return ollama.Options{Endpoint: wire.Endpoint{HTTP: wire.NewClient(t)}}
}

func model() llm.Model {
	return llm.Model{Provider: "ollama", ID: "qwen3:8b", Context: 128_000, Images: true}
}

const (
	said = `{"message":{"role":"assistant","content":"Hi"},"done":false}` + "\n"
	end  = `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":31,"eval_count":7}` + "\n"
)

// sent returns the body of a request.
func sent(t *testing.T, m llm.Model, o ollama.Options, req *llm.Request) map[string]any {
	t.Helper()
	var body []byte
	o.HTTP = wire.NewClient(reply(200, "application/x-ndjson", said+end, &body))
	if _, err := llm.Collect(t.Context(), ollama.New(m, o), req); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

func TestTheRequest(t *testing.T) {
	hot := 0.5
	call := llm.ToolCall{ID: "call_1", Name: "look", Arguments: `{"path":"a"}`}
	req := &llm.Request{
		System: "Be short.",
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: llm.Content{llm.Text{Text: "What is it?"}, llm.Image{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n1")}}},
			{Role: llm.RoleAssistant, Model: "ollama/qwen3:8b", Content: llm.Content{llm.Thinking{Text: "Hm."}, llm.Text{Text: "I look."}, call}},
			llm.ToolText(call, "a picture", false),
			{Role: llm.RoleAssistant, Model: "anthropic/x", Content: llm.Content{llm.Thinking{Text: "foreign"}, llm.Text{Text: "A picture."}}},
			llm.UserText("Sure?"),
		},
		Tools:    []llm.Tool{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "rest"}},
		Settings: llm.Settings{MaxTokens: 900, Temperature: &hot, Thinking: llm.ThinkHigh},
	}
	got, err := json.MarshalIndent(sent(t, model(), ollama.Options{Window: 32_768}, req), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "messages": [
  {
   "content": "Be short.",
   "role": "system"
  },
  {
   "content": "What is it?",
   "images": [
    "iVBORw0KGgox"
   ],
   "role": "user"
  },
  {
   "content": "I look.",
   "role": "assistant",
   "thinking": "Hm.",
   "tool_calls": [
    {
     "function": {
      "arguments": {
       "path": "a"
      },
      "name": "look"
     },
     "id": "call_1"
    }
   ]
  },
  {
   "content": "a picture",
   "role": "tool",
   "tool_call_id": "call_1",
   "tool_name": "look"
  },
  {
   "content": "A picture.",
   "role": "assistant"
  },
  {
   "content": "Sure?",
   "role": "user"
  }
 ],
 "model": "qwen3:8b",
 "options": {
  "num_ctx": 32768,
  "num_predict": 900,
  "temperature": 0.5
 },
 "shift": false,
 "stream": true,
 "think": true,
 "tools": [
  {
   "function": {
    "description": "Looks.",
    "name": "look",
    "parameters": {
     "type": "object"
    }
   },
   "type": "function"
  },
  {
   "function": {
    "description": "",
    "name": "rest",
    "parameters": {
     "properties": {},
     "type": "object"
    }
   },
   "type": "function"
  }
 ],
 "truncate": false
}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

// Without a known window the server decides, and without a level the model.
func TestLittleIsAsked(t *testing.T) {
	body := sent(t, model(), ollama.Options{}, &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}})
	for _, name := range []string{"options", "think", "tools", "format"} {
		if v, ok := body[name]; ok {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func TestThinking(t *testing.T) {
	for id, want := range map[string]string{"qwen3:8b": "false true true true true", "gpt-oss:20b": "low low low medium high"} {
		m := model()
		m.ID = id
		var got []string
		for _, level := range []llm.Thinks{llm.ThinkOff, llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh} {
			req := &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}, Settings: llm.Settings{Thinking: level}}
			got = append(got, fmt.Sprint(sent(t, m, ollama.Options{}, req)["think"]))
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%s: got %s, want %s", id, all, want)
		}
	}
}

// A model that cannot think is asked once, and answers.
func TestAModelThatCannotThink(t *testing.T) {
	var asked []bool
	c := ollama.New(model(), on(server(func(r *http.Request) (*http.Response, error) {
		data, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(data))
		thinks := bytes.Contains(data, []byte(`"think":true`))
		if asked = append(asked, thinks); thinks {
			return reply(400, "application/json", `{"error":"\"qwen3:8b\" does not support thinking"}`, nil)(r)
		}
		return reply(200, "application/x-ndjson", said+end, nil)(r)
	})))
	req := &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}, Settings: llm.Settings{Thinking: llm.ThinkHigh}}
	for range 2 {
		if _, err := llm.Collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(asked, []bool{true, false, false}) {
		t.Errorf("asked with thinking: %v", asked)
	}
}

// A structured answer is the format of a model without tools, and a call of one with tools.
func TestStructuredAnswers(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	req := &llm.Request{Messages: []llm.Message{llm.UserText("Count.")}, Settings: llm.Settings{Schema: schema}}
	if body := sent(t, model(), ollama.Options{}, req); body["format"] == nil || body["tools"] != nil {
		t.Errorf("got %v", body)
	}
	req.Tools = []llm.Tool{{Name: "look"}}
	answer := `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"final_answer","arguments":{"n": 3}}}]},"done":false}` + "\n" + end
	var data []byte
	m, err := llm.Collect(t.Context(), ollama.New(model(), on(reply(200, "application/x-ndjson", answer, &data))), req)
	if err != nil || m.Text() != `{"n":3}` || len(m.Calls()) > 0 || bytes.Contains(data, []byte(`"format"`)) || !bytes.Contains(data, []byte("calling the tool final_answer")) {
		t.Errorf("got %+v, %v, asked %s", m, err, data)
	}
}

func TestAnswers(t *testing.T) {
	call := `{"message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"index":0,"name":"look","arguments":{"path":"a"}}},{"function":{"name":"list","arguments":{}}}]},"done":false}` + "\n"
	thought := `{"message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}` + "\n"
	for _, test := range []struct{ name, media, body, want string }{
		{"text", "application/x-ndjson", said + "\n" + end, `text "Hi"; end; 31 in, 7 out`},
		{"thinking and calls", "application/x-ndjson", thought + said + call + end, `thinking "Hm."; text "Hi"; look {"path":"a"}; list {}; tool_calls; 31 in, 7 out`},
		{"length", "application/x-ndjson", said + strings.Replace(end, `"stop"`, `"length"`, 1), `text "Hi"; length; 31 in, 7 out`},
		{"whole", "application/json", strings.ReplaceAll(strings.Replace(end, `"content":""`, `"content":"Hi"`, 1), ",", ",\n"), `text "Hi"; end; 31 in, 7 out`},
		{"cut", "application/x-ndjson", said, "protocol"},
		{"cut in a line", "application/x-ndjson", said + `{"message":{"content":"x`, "protocol"},
		{"an error in the stream", "application/x-ndjson", said + `{"error":"an error was encountered while running the model: CUDA error"}` + "\n", "overloaded"},
		{"too long", "application/x-ndjson", `{"error":"the input length exceeds the context length"}` + "\n", "context_overflow"},
		{"no JSON", "application/x-ndjson", "hello\n", "protocol"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := llm.Collect(t.Context(), ollama.New(model(), on(reply(200, test.media, test.body, nil))), &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}})
			if got := inShort(m, err); got != test.want {
				t.Errorf("got %s, want %s; %v", got, test.want, err)
			}
		})
	}
}

func inShort(m llm.Message, err error) string {
	if err != nil {
		return string(llm.AsError(err).Kind)
	}
	var all []string
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			all = append(all, fmt.Sprintf("text %q", p.Text))
		case llm.Thinking:
			all = append(all, fmt.Sprintf("thinking %q", p.Text))
		case llm.ToolCall:
			all = append(all, p.Name+" "+p.Arguments)
		}
	}
	return strings.Join(append(all, string(m.Stop), fmt.Sprintf("%d in, %d out", m.Usage.Input, m.Usage.Output)), "; ")
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   llm.Kind
	}{
		{400, `{"error":"the input length exceeds the context length"}`, llm.KindContextOverflow},
		{404, `{"error":"model 'x' not found"}`, llm.KindInvalidRequest},
		{401, `{"error":"unauthorized"}`, llm.KindAuth},
		{503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, llm.KindOverloaded},
		{500, `{"error":"model requires more system memory (9.0 GiB) than is available (3.1 GiB)"}`, llm.KindOverloaded},
	} {
		_, err := llm.Collect(t.Context(), ollama.New(model(), on(reply(test.status, "application/json", test.body, nil))), &llm.Request{})
		if e := llm.AsError(err); e.Kind != test.want || e.Model != "ollama/qwen3:8b" {
			t.Errorf("%s: got %+v", test.body, e)
		}
	}
}

func TestTheAddress(t *testing.T) {
	for base, want := range map[string]string{
		"": "http://localhost:11434/api/chat", "http://h:1/v1": "http://h:1/api/chat", "http://h:1/": "http://h:1/api/chat", "https://ollama.com": "https://ollama.com/api/chat",
	} {
		var url, key string
		o := on(server(func(r *http.Request) (*http.Response, error) {
			url, key = r.URL.String(), r.Header.Get("Authorization")
			return reply(200, "application/x-ndjson", end, nil)(r)
		}))
		o.BaseURL, o.Key = base, "k-123456"
		_, _ = llm.Collect(t.Context(), ollama.New(model(), o), &llm.Request{})
		if url != want || key != "Bearer k-123456" {
			t.Errorf("%q: got %s with %q", base, url, key)
		}
	}
}

// Whatever a server sends, the answer ends with one Done or one *llm.Error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{said + end, end, said, `{"error":"x"}`, `{"done":true,"eval_count":-1}`, "[]", "null", `{"message":{"tool_calls":[{}]},"done":true}`, ""} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, data string, streamed bool) {
		media := "application/json"
		if streamed {
			media = "application/x-ndjson"
		}
		ends := 0
		for e, err := range ollama.New(model(), on(reply(200, media, data, nil))).Stream(t.Context(), &llm.Request{}) {
			if _, done := e.(llm.Done); done || err != nil {
				ends++
			}
			if err != nil && llm.AsError(err) == nil {
				t.Errorf("got %v", err)
			}
		}
		if ends != 1 {
			t.Errorf("the answer ended %d times", ends)
		}
	})
}
