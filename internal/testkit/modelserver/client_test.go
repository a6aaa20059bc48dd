package modelserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// request returns the path and the body of a question in a protocol.
func request(p modelserver.Protocol, stream bool) (path, body string) {
	verb := map[bool]string{true: ":streamGenerateContent?alt=sse", false: ":generateContent"}[stream]
	const contents = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	switch p {
	case modelserver.Anthropic:
		return "/v1/messages", fmt.Sprintf(`{"model":"m","max_tokens":99,"stream":%t,"messages":[{"role":"user","content":"hello"}]}`, stream)
	case modelserver.AnthropicVertex:
		verb := map[bool]string{true: ":streamRawPredict", false: ":rawPredict"}[stream]
		return "/v1/projects/p/locations/l/publishers/anthropic/models/m" + verb, fmt.Sprintf(
			`{"anthropic_version":"vertex-2023-10-16","max_tokens":99,"stream":%t,"messages":[{"role":"user","content":"hello"}]}`, stream)
	case modelserver.OpenAIChat:
		options := map[bool]string{true: `,"stream_options":{"include_usage":true}`}[stream]
		return "/some/prefix/chat/completions", fmt.Sprintf(
			`{"model":"m","stream":%t%s,"messages":[{"role":"user","content":"hello"}]}`, stream, options)
	case modelserver.OpenAIResponses:
		return "/v1/responses", fmt.Sprintf(
			`{"model":"m","stream":%t,"store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"hello"}]}`, stream)
	case modelserver.Gemini:
		return "/v1beta/models/m" + verb, contents
	case modelserver.GeminiVertex:
		return "/v1/projects/p/locations/l/publishers/google/models/m" + verb, contents
	case modelserver.Ollama:
		return "/some/prefix/api/chat", fmt.Sprintf(`{"model":"m","stream":%t,"messages":[{"role":"user","content":"hello"}]}`, stream)
	default:
		verb := map[bool]string{true: "converse-stream", false: "converse"}[stream]
		return "/model/m/" + verb, `{"messages":[{"role":"user","content":[{"text":"hello"}]}]}`
	}
}

// post sends a question. Its answer is read by the caller.
func post(ctx context.Context, url, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Authorization", "Bearer token")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(req)
}

// ask puts the question of a protocol to srv and returns the answer and its body. err is that of the connection or of the body.
func ask(t *testing.T, srv *modelserver.Server, p modelserver.Protocol, stream bool) (res *http.Response, body []byte, err error) {
	t.Helper()
	path, question := request(p, stream)
	res, err = post(t.Context(), srv.URL+path, question)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res, body, err
}

// each runs a test for every protocol, streamed and not.
func each(t *testing.T, f func(t *testing.T, p modelserver.Protocol, stream bool)) {
	for _, p := range modelserver.Protocols() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", p, stream), func(t *testing.T) { f(t, p, stream) })
		}
	}
}

// record makes a request for a handler without a connection.
func record(path string, body []byte) (*httptest.ResponseRecorder, *http.Request) {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, bytes.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Anthropic-Version": "2023-06-01", "Authorization": "Bearer token",
	} {
		r.Header.Set(name, value)
	}
	return httptest.NewRecorder(), r
}
