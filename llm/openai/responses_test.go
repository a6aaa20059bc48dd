package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

var respUpdate = flag.Bool("update-responses", false, "write the golden files in testdata/responses anew")

const (
	respSSE  = "text/event-stream"
	respJSON = "application/json"
)

// respModel is a model that can do everything.
func respModel() llm.Model {
	return llm.Model{Provider: "openai", ID: "gpt-5", MaxOutput: 64_000, Images: true, Documents: true}
}

// respServer is a server in memory: it answers every request with what the function returns.
type respServer func(r *http.Request, body []byte) *http.Response

func (s respServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return s(r, body), r.Context().Err()
}

func (s respServer) endpoint() wire.Endpoint {
	return wire.Endpoint{Key: "sk-secret", HTTP: wire.NewClient(s)}
}

func respReply(status int, contentType string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body)}
}

// respAnswering returns a client of a server that answers with a body.
func respAnswering(contentType string, body io.Reader) *openai.Responses {
	s := respServer(func(*http.Request, []byte) *http.Response { return respReply(200, contentType, body) })
	return openai.NewResponses(respModel(), openai.ResponsesOptions{Endpoint: s.endpoint()})
}

// respSent returns the request that a client sends for req.
func respSent(t *testing.T, model llm.Model, o openai.ResponsesOptions, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	var sent *http.Request
	var data []byte
	endpoint := respServer(func(r *http.Request, body []byte) *http.Response {
		sent, data = r, body
		return respReply(200, respJSON, strings.NewReader(`{"object":"response","output":[]}`))
	}).endpoint()
	endpoint.BaseURL = o.Endpoint.BaseURL
	o.Endpoint = endpoint
	if _, err := llm.Collect(t.Context(), openai.NewResponses(model, o), req); err != nil {
		t.Fatal(err)
	}
	return sent, data
}

func respAsk() *llm.Request { return &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}} }

// respTrace runs an answer and returns its events, one on a line, and its error.
func respTrace(ctx context.Context, c llm.Client, req *llm.Request) string {
	var b strings.Builder
	for e, err := range c.Stream(ctx, req) {
		if err != nil {
			fmt.Fprintf(&b, "error %v (retryable %t)\n", err, llm.AsError(err).Retryable())
			continue
		}
		data, err := llm.MarshalEvent(e)
		if err != nil {
			fmt.Fprintf(&b, "no JSON: %v\n", err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}

// respGolden compares got with a file, or writes the file anew.
func respGolden(t *testing.T, path, got string) {
	t.Helper()
	if *respUpdate {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func respIndent(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return b.String() + "\n"
}

// respFixtures runs a test for each recorded stream in testdata/responses/answers.
func respFixtures(t *testing.T, f func(t *testing.T, name string, data []byte)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/responses/answers/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".sse"), func(t *testing.T) {
			f(t, strings.TrimSuffix(path, ".sse"), data)
		})
	}
}
