package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// testModel is a model that can do everything.
func testModel() llm.Model {
	return llm.Model{Provider: "anthropic", ID: "claude-test", MaxOutput: 64_000, Images: true, Documents: true}
}

// server is a server in memory: it answers every request with what the function returns.
type server func(r *http.Request, body []byte) *http.Response

func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return s(r, body), r.Context().Err()
}

// endpoint returns an endpoint at which s answers.
func (s server) endpoint() wire.Endpoint { return wire.Endpoint{HTTP: wire.NewClient(s)} }

func response(status int, contentType string, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {contentType}, "Request-Id": {"req_1"}}, Body: io.NopCloser(body),
	}
}

// answering returns a client of a server that answers with a body.
func answering(contentType string, body io.Reader) *Client {
	s := server(func(*http.Request, []byte) *http.Response { return response(200, contentType, body) })
	return New(testModel(), Options{Endpoint: s.endpoint()})
}

func ask() *llm.Request { return &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}} }

// trace runs an answer and returns its events, one on a line, and its error.
func trace(ctx context.Context, c llm.Client, req *llm.Request) string {
	var b strings.Builder
	for e, err := range c.Stream(ctx, req) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
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

// golden compares got with a file, or writes the file anew.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
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

// indent returns JSON in a form that people can compare.
func indent(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return b.String() + "\n"
}
