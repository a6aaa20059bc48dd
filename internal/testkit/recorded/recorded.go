// Package recorded plays recorded answers of model servers and compares what becomes of them with files, for tests alone.
package recorded

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// Server is a server in memory: it answers every request with what the function returns.
type Server func(r *http.Request, body []byte) *http.Response

// RoundTrip implements [http.RoundTripper].
func (s Server) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return s(r, body), r.Context().Err()
}

// Reply is an answer.
func Reply(status int, contentType string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body)}
}

// Ask is a small request.
func Ask() *llm.Request { return &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}} }

// Trace runs an answer and returns its events, one on a line, and its error.
func Trace(ctx context.Context, c llm.Client, req *llm.Request) string {
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

// Golden compares a text with a file, or rewrites the file.
func Golden(t testing.TB, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(string(want), "\r\n", "\n"); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// Indent is JSON in a form that people can compare.
func Indent(t testing.TB, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return b.String() + "\n"
}

// Cuts yields places at which a test cuts a recorded answer: around the borders of lines, fields and escapes, at both ends, and a
// sample of the other bytes. The inside of a long text has many equal places.
func Cuts(data []byte) iter.Seq[int] {
	const near, every = 64, 13
	return func(yield func(int) bool) {
		for at := range data {
			border := at == 0 || bytes.IndexByte([]byte("\n\r\\{}[]"), data[at-1]) >= 0 || bytes.IndexByte([]byte("\n\r\\{}[]"), data[at]) >= 0 || data[at] >= 0x80
			if (border || at < near || at >= len(data)-near || at%every == 0) && !yield(at) {
				return
			}
		}
	}
}
