package modelserver_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

func TestStepsAreTakenInOrder(t *testing.T) {
	srv := modelserver.New(t,
		modelserver.Steps(modelserver.Say("first"), modelserver.Say("second")),
		modelserver.StepsFor("other", modelserver.Say("for the other")))
	_, body, _ := ask(t, srv, modelserver.Bedrock, false)
	other := strings.Replace(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `"m"`, `"other"`, 1)
	res, err := post(t.Context(), srv.URL+"/chat/completions", other)
	if err != nil {
		t.Fatal(err)
	}
	also, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if !strings.Contains(string(body), "first") || !strings.Contains(string(also), "for the other") || srv.Left() != 1 {
		t.Errorf("%s, %s, %d left", body, also, srv.Left())
	}
	ask(t, srv, modelserver.Gemini, true)
	if res, body, _ := ask(t, srv, modelserver.Gemini, true); res.StatusCode != 400 || len(srv.Violations()) != 1 {
		t.Errorf("beyond the end: %d: %s, %v", res.StatusCode, body, srv.Violations())
	}
}

func TestARequestThatBreaksTheRulesTakesNoStep(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hi")))
		path, _ := request(p, stream)
		res, err := post(t.Context(), srv.URL+path, `{"nonsense":true}`)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 400 || !strings.Contains(string(body), "nonsense") || srv.Left() != 1 {
			t.Errorf("%d: %s, %d left", res.StatusCode, body, srv.Left())
		}
		if v := srv.Violations(); len(v) != 1 || srv.Requests()[0].Violation == nil {
			t.Errorf("violations: %v", v)
		}
	})
}

func TestHeadersAreChecked(t *testing.T) {
	for p, header := range map[modelserver.Protocol][2]string{
		modelserver.Anthropic: {"Anthropic-Version", ""}, modelserver.OpenAIChat: {"Content-Type", "text/plain"},
		modelserver.GeminiVertex: {"X-Goog-Api-Key", "key"},
	} {
		srv := modelserver.New(t)
		path, body := request(p, true)
		res, err := post(t.Context(), srv.URL+path, body, header[0], header[1])
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 400 || len(srv.Violations()) != 1 {
			t.Errorf("%s: %d, %v", p, res.StatusCode, srv.Violations())
		}
	}
}

func TestKeys(t *testing.T) {
	headers := map[modelserver.Protocol]string{
		modelserver.Anthropic: "X-Api-Key", modelserver.OpenAIChat: "Api-Key", modelserver.Gemini: "X-Goog-Api-Key",
		modelserver.OpenAIResponses: "Authorization", modelserver.Bedrock: "Authorization", modelserver.AnthropicVertex: "Authorization",
		modelserver.Ollama: "Authorization",
	}
	refused := map[modelserver.Protocol]int{modelserver.Gemini: 400, modelserver.Bedrock: 403}
	for p, name := range headers {
		srv := modelserver.New(t, modelserver.With(modelserver.Config{Keys: []string{"right"}}), modelserver.Steps(modelserver.Say("hi")))
		for _, key := range []string{"wrong", "right"} {
			path, body := request(p, false)
			value := key
			if name == "Authorization" {
				value = "Bearer " + key
			}
			res, err := post(t.Context(), srv.URL+path, body, "Authorization", "", name, value)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			want := http.StatusOK
			if key == "wrong" {
				if want = refused[p]; want == 0 {
					want = http.StatusUnauthorized
				}
			}
			if res.StatusCode != want {
				t.Errorf("%s: the %s key got %d, want %d", p, key, res.StatusCode, want)
			}
		}
		if r := srv.Requests(); r[0].Key != "wrong" || r[1].Key != "right" {
			t.Errorf("%s: keys %q and %q", p, r[0].Key, r[1].Key)
		}
	}
}

func TestAzure(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hi"), modelserver.Fail(401)))
	url := srv.URL + "/openai/deployments/gpt%2Dx/chat/completions?api-version=2024-10-21"
	var bodies []string
	for range 2 {
		res, err := post(t.Context(), url, `{"messages":[{"role":"user","content":"hi"}]}`, "Api-Key", "k")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		bodies = append(bodies, string(body))
	}
	if r := srv.Requests()[0]; !r.Azure || r.Model != "gpt-x" || !strings.Contains(bodies[1], `"code":"401"`) {
		t.Errorf("%+v: %s", r, bodies)
	}
}

func TestSignedRequests(t *testing.T) {
	const secret = "wJalrXUtnFEMI"
	verified := modelserver.Config{Keys: []string{"AKID"}, Secret: secret}
	for _, c := range []struct {
		name   string
		config modelserver.Config
		secret string
		spoil  func(*http.Request)
		status int
	}{
		{"right", verified, secret, nil, 200},
		{"other secret", verified, "other", nil, 403},
		{"shape only", modelserver.Config{}, "other", nil, 200},
		{"other key", modelserver.Config{Keys: []string{"AKOTHER"}}, secret, nil, 403},
		{"none", verified, secret, func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"no date", verified, secret, func(r *http.Request) { r.Header.Del("X-Amz-Date") }, 403},
		{"other date", verified, secret, func(r *http.Request) { r.Header.Set("X-Amz-Date", "20010101T000000Z") }, 403},
		{"other method", verified, secret, func(r *http.Request) { r.Header.Set("Authorization", "AWS3 x") }, 403},
		{"malformed", verified, secret, func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/b") }, 403},
	} {
		srv := modelserver.New(t, modelserver.With(c.config), modelserver.Steps(modelserver.Say("hi")))
		_, body := request(modelserver.Bedrock, true)
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/model/anthropic.claude%3A0/converse-stream", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		sum := sha256.Sum256([]byte(body))
		credentials := aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: c.secret, SessionToken: "session"}
		err = v4.NewSigner().SignHTTP(t.Context(), credentials, req, hex.EncodeToString(sum[:]), "bedrock", "us-east-1", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if c.spoil != nil {
			c.spoil(req)
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: %d: %s", c.name, res.StatusCode, answer)
		}
		if r := srv.Requests()[0]; c.status == 200 && (r.Model != "anthropic.claude:0" || r.Key != "AKID") {
			t.Errorf("%s: model %q, key %q", c.name, r.Model, r.Key)
		}
	}
}

func TestWhatARequestSays(t *testing.T) {
	const (
		image = "iVBORw0KGgo="
		url   = "data:image/png;base64," + image
	)
	bodies := map[modelserver.Protocol]string{
		modelserver.Anthropic: `{"model":"m","max_tokens":9,"system":"be","tools":[{"name":"read","description":"d","input_schema":{"type":"object"}}],"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + image + `"}}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"a":1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done"},{"type":"text","text":"and?"}]}]}`,
		modelserver.OpenAIChat: `{"model":"m","max_tokens":9,"tools":[{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object"}}}],
			"messages":[{"role":"system","content":"be"},
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"` + url + `"}}]},
			{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"done"},{"role":"user","content":"and?"}]}`,
		modelserver.OpenAIResponses: `{"model":"m","max_output_tokens":99,"instructions":"be","tools":[{"type":"function","name":"read","description":"d","parameters":{"type":"object"}}],
			"input":[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"` + url + `"}]},
			{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c1","output":"done"},
			{"role":"user","content":"and?"}]}`,
		modelserver.Gemini: `{"generationConfig":{"maxOutputTokens":9},"systemInstruction":{"parts":[{"text":"be"}]},
			"tools":[{"functionDeclarations":[{"name":"read","description":"d","parametersJsonSchema":{"type":"object"}}]}],
			"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"` + image + `"}}]},
			{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{"a":1}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"done"}}},{"text":"and?"}]}]}`,
		modelserver.Bedrock: `{"inferenceConfig":{"maxTokens":9},"system":[{"text":"be"}],
			"toolConfig":{"tools":[{"toolSpec":{"name":"read","description":"d","inputSchema":{"json":{"type":"object"}}}}]},
			"messages":[{"role":"user","content":[{"text":"look"},{"image":{"format":"png","source":{"bytes":"` + image + `"}}}]},
			{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"read","input":{"a":1}}}]},
			{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"done"}]}},{"text":"and?"}]}]}`,
		modelserver.Ollama: `{"model":"m","stream":false,"options":{"num_predict":9},
			"tools":[{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object"}}}],
			"messages":[{"role":"system","content":"be"},{"role":"user","content":"look","images":["` + image + `"]},
			{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"read","arguments":{"a":1}}}]},
			{"role":"tool","tool_call_id":"c1","tool_name":"read","content":"done"},{"role":"user","content":"and?"}]}`,
	}
	for p, body := range bodies {
		srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hi")))
		path, _ := request(p, false)
		res, err := post(t.Context(), srv.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		r := srv.Requests()[0]
		if r.Violation != nil || r.Protocol != p || r.Model != "m" || r.Stream || r.MaxTokens%90 != 9 || r.System != "be" {
			t.Errorf("%s: %+v", p, r)
		}
		if r.LastUser() != "and?" || r.Images() != 1 || len(r.Messages) != 4 || len(r.Tools) != 1 {
			t.Errorf("%s: %q, %d images, %d messages, %d tools", p, r.LastUser(), r.Images(), len(r.Messages), len(r.Tools))
			continue
		}
		if tool := r.Tools[0]; tool.Name != "read" || tool.Description != "d" || string(tool.Schema) != `{"type":"object"}` {
			t.Errorf("%s: %+v", p, tool)
		}
		if calls := r.Messages[1].Calls(); len(calls) != 1 || calls[0].Arguments != `{"a":1}` || calls[0].ID != "c1" {
			t.Errorf("%s: %+v", p, calls)
		}
		if results := r.Results(); len(results) != 1 || results[0].CallID != "c1" || results[0].Tool != "read" || results[0].Text() != "done" {
			t.Errorf("%s: %+v", p, results)
		}
	}
}

func TestPartsOfARequest(t *testing.T) {
	const pdf, link = "JVBERi0=", "data:application/pdf;base64,JVBERi0="
	for p, body := range map[modelserver.Protocol]string{
		modelserver.Anthropic: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[
			{"type":"text","text":"x"},{"type":"document","title":"a","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"y"}]},{"role":"user","content":"go"}]}`,
		modelserver.OpenAIResponses: `{"model":"m","input":[{"role":"developer","content":"be"},{"role":"user","content":[
			{"type":"input_text","text":"x"},{"type":"input_file","filename":"a","file_data":"` + link + `"}]},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"s"},
			{"role":"assistant","content":[{"type":"output_text","text":"y"}]},{"role":"user","content":"go"}]}`,
		modelserver.OpenAIChat: `{"model":"m","messages":[{"role":"user","content":[
			{"type":"text","text":"x"},{"type":"file","file":{"filename":"a","file_data":"` + link + `"}}]},
			{"role":"assistant","content":"y","reasoning_content":"hm"},{"role":"user","content":"go"}]}`,
		modelserver.Gemini: `{"contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{"mimeType":"application/pdf","displayName":"a","data":"` + pdf + `"}}]},
			{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"AAAA"},{"text":"y"}]},{"role":"user","parts":[{"text":"go"}]}]}`,
		modelserver.Bedrock: `{"messages":[{"role":"user","content":[{"text":"x"},{"document":{"format":"pdf","name":"a","source":{"bytes":"` + pdf + `"}}}]},
			{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"text":"y"}]},
			{"role":"user","content":[{"text":"go"}]}]}`,
	} {
		srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hi")),
			modelserver.With(modelserver.Config{Rules: modelserver.Rules{Extra: []string{"reasoning_content"}}}))
		path, _ := request(p, false)
		res, err := post(t.Context(), srv.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		r := srv.Requests()[0]
		if r.Violation != nil || len(r.Messages) != 3 {
			t.Errorf("%s: %v, %+v", p, r.Violation, r.Messages)
			continue
		}
		document, ok := r.Messages[0].Content[1].(llm.Document)
		if !ok || document.MIME != "application/pdf" || document.Name != "a" || string(document.Data) != "%PDF-" {
			t.Errorf("%s: %+v", p, r.Messages[0].Content)
		}
		if thought, ok := r.Messages[1].Content[0].(llm.Thinking); !ok || thought.Text != "hm" || r.Messages[1].Text() != "y" {
			t.Errorf("%s: %+v", p, r.Messages[1].Content)
		}
	}
}

func TestATouchedThoughtIsRefused(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Think("deep").Say("x")))
	_, body, _ := ask(t, srv, modelserver.Anthropic, true)
	signature := read(t, modelserver.Anthropic, true, body).signature
	for thought, fine := range map[string]bool{"deep": true, "deeper": false} {
		b, _ := json.Marshal(map[string]any{
			"model": "m", "max_tokens": 9, "messages": []any{
				map[string]any{"role": "user", "content": "hi"},
				map[string]any{"role": "assistant", "content": []any{
					map[string]any{"type": "thinking", "thinking": thought, "signature": signature}, map[string]any{"type": "text", "text": "x"},
				}},
				map[string]any{"role": "user", "content": "go on"},
			},
		})
		if err := modelserver.Check(modelserver.Anthropic, nil, b); (err == nil) != fine {
			t.Errorf("%s: %v", thought, err)
		}
	}
}

func TestDiscovery(t *testing.T) {
	srv := modelserver.New(t, modelserver.With(modelserver.Config{Models: []string{"a", "b"}}))
	for path, want := range map[string]string{
		"/v1/models": `"id":"b"`, "/api/v1/models": `"object":"list"`, "/v1beta/models": `"name":"models/a"`, "/api/tags": `"name":"a"`,
		"/api/version": `"version"`, "/props": `"n_ctx"`, "/health": `"ok"`,
	} {
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d: %s", path, w.Code, w.Body)
		}
	}
	for _, r := range [][2]string{{"GET", "/"}, {"POST", "/v1/models"}, {"GET", "/v1/messages"}} {
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), r[0], r[1], nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", r, w.Code)
		}
	}
	locked := modelserver.NewHandler(modelserver.With(modelserver.Config{Keys: []string{"k"}}))
	w := httptest.NewRecorder()
	locked.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/models", nil))
	if w.Code != http.StatusUnauthorized {
		t.Error(w.Code)
	}
}

func TestAHandlerWithoutAConnectionAborts(t *testing.T) {
	h := modelserver.NewHandler(modelserver.Steps(modelserver.Say("x").Fault(modelserver.ResetBeforeHeaders)))
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("it went on")
		}
	}()
	path, body := request(modelserver.Gemini, true)
	r := httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(httptest.NewRecorder(), r)
}

func TestADelayEndsWithTheServer(t *testing.T) {
	asked := make(chan struct{})
	h := modelserver.NewHandler(modelserver.Steps(modelserver.Say("soon").Delay(1)), modelserver.Func(func(*modelserver.Request) modelserver.Step {
		close(asked)
		return modelserver.Say("never").Delay(time.Hour)
	}))
	serve := func() string {
		path, body := request(modelserver.Gemini, false)
		w, r := record(path, []byte(body))
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				panic(v)
			}
		}()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	if s := serve(); !strings.Contains(s, "soon") {
		t.Errorf("got %s", s)
	}
	done := make(chan string)
	go func() { done <- serve() }()
	<-asked
	if err := h.Close(); err != nil || h.Close() != nil {
		t.Error(err)
	}
	if s := <-done; s != "" {
		t.Errorf("it was answered: %s", s)
	}
}

func TestABodyHasABound(t *testing.T) {
	h := modelserver.NewHandler()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages", bytes.NewReader(make([]byte, 65<<20)))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "request_too_large") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func TestAClientThatLeavesWhileItAsksBreaksNoRule(t *testing.T) {
	h := modelserver.NewHandler()
	defer func() {
		if recover() != http.ErrAbortHandler || len(h.Violations()) != 0 || len(h.Requests()) != 0 {
			t.Errorf("%v", h.Violations())
		}
	}()
	body := io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages", body))
}

func TestWhatAnAnswerLeavesOpenIsFilledIn(t *testing.T) {
	redacted := llm.Thinking{Opaque: json.RawMessage(`"c2VjcmV0"`)}
	for p, want := range map[modelserver.Protocol]string{
		modelserver.Anthropic: `"data":"c2VjcmV0"`, modelserver.Bedrock: `"redactedContent":"YzJWamNtVjA="`,
	} {
		for _, stream := range []bool{true, false} {
			srv := modelserver.New(t, modelserver.Steps(modelserver.Answer(llm.Message{Content: llm.Content{redacted, llm.Text{Text: "x"}}})))
			if _, body, err := ask(t, srv, p, stream); err != nil || !strings.Contains(string(body), want) {
				t.Errorf("%s: %v: %s", p, err, body)
			}
		}
	}
	srv := modelserver.New(t, modelserver.Steps(modelserver.Call("read", `{"half`)))
	if _, body, _ := ask(t, srv, modelserver.Anthropic, false); !strings.Contains(string(body), `"id":"toolu_`) || !strings.Contains(string(body), `"input":{}`) {
		t.Errorf("%s", body)
	}
	srv = modelserver.New(t, modelserver.Steps(modelserver.Answer(llm.Message{Stop: llm.StopRefused})))
	if _, body, _ := ask(t, srv, modelserver.Gemini, true); !strings.Contains(string(body), "blockReason") {
		t.Errorf("%s", body)
	}
}
