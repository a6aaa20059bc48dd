package openai_test

import (
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

const (
	respSSE  = "text/event-stream"
	respJSON = "application/json"
)

// respModel is a model that can do everything.
func respModel() llm.Model {
	return llm.Model{Provider: "openai", ID: "gpt-5", MaxOutput: 64_000, Images: true, Documents: true}
}

// respAt returns an endpoint at which a server in memory answers.
func respAt(s recorded.Server) wire.Endpoint {
	return wire.Endpoint{Key: "sk-secret", HTTP: wire.NewClient(s)}
}

// respAnswering returns a client of a server that answers with a body.
func respAnswering(contentType string, body io.Reader) *openai.Responses {
	s := recorded.Server(func(*http.Request, []byte) *http.Response { return recorded.Reply(200, contentType, body) })
	return openai.NewResponses(respModel(), openai.ResponsesOptions{Endpoint: respAt(s)})
}

// respSent returns the request that a client sends for req.
func respSent(t *testing.T, model llm.Model, o openai.ResponsesOptions, req *llm.Request) (*http.Request, []byte) {
	t.Helper()
	var sent *http.Request
	var data []byte
	endpoint := respAt(func(r *http.Request, body []byte) *http.Response {
		sent, data = r, body
		return recorded.Reply(200, respJSON, strings.NewReader(`{"object":"response","output":[]}`))
	})
	endpoint.BaseURL = o.Endpoint.BaseURL
	o.Endpoint = endpoint
	if _, err := llm.Collect(t.Context(), openai.NewResponses(model, o), req); err != nil {
		t.Fatal(err)
	}
	return sent, data
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
