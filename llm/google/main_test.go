package google_test

import (
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// server answers requests in memory.
type server func(*http.Request) (*http.Response, error)

func (s server) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// reply answers with a status, a content type and a body.
func reply(status int, contentType string, body io.Reader) server {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body), Request: r,
		}, nil
	}
}

func sse(body string) server { return reply(200, "text/event-stream", strings.NewReader(body)) }

func flash() llm.Model {
	return llm.Model{
		Provider: "gemini", ID: "gemini-2.5-flash", Context: 1 << 20, MaxOutput: 65536, Images: true, Documents: true,
		Price: llm.Price{Input: 0.3, CacheRead: 0.03, Output: 2.5},
	}
}

func pro3() llm.Model {
	m := flash()
	m.ID, m.Quirks = "gemini-3-pro-preview", []llm.Quirk{llm.QuirkNativeSchema}
	m.Thinks = []llm.Thinks{llm.ThinkLow, llm.ThinkHigh}
	return m
}

func on(transport http.RoundTripper) google.Options {
	return google.Options{Endpoint: wire.Endpoint{Key: key, HTTP: wire.NewClient(transport)}}
}

const key = "AIza-secret-0123456789"
