package decoding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// word is the text of one delta.
const word = "word "

// reader reads one streamed answer, and calls f with each piece of its text.
type reader func(ctx context.Context, h *http.Client, f func(text string)) error

// BenchmarkDecode reads the same answers with our client of each protocol and with its SDK, which puts no message together.
func BenchmarkDecode(b *testing.B) {
	for _, p := range []struct {
		name      string
		ours, sdk reader
	}{
		{"anthropic", ours(anthropicClient), readAnthropic},
		{"chat", ours(chatClient), readChat},
		{"responses", ours(responsesClient), readResponses},
		{"gemini", ours(geminiClient), readGemini},
		{"bedrock", ours(bedrockClient), readBedrock},
	} {
		for _, deltas := range []int{1_000, 20_000} {
			b.Run(fmt.Sprintf("%s/%d/ours", p.name, deltas), func(b *testing.B) { bench(b, p.ours, p.ours, deltas) })
			b.Run(fmt.Sprintf("%s/%d/sdk", p.name, deltas), func(b *testing.B) { bench(b, p.ours, p.sdk, deltas) })
		}
	}
}

// bench measures read on an answer to ours.
func bench(b *testing.B, ours, read reader, deltas int) {
	tape := tape{handler: modelserver.NewHandler(
		modelserver.With(modelserver.Config{DeltaBytes: len(word)}), modelserver.Steps(modelserver.Say(strings.Repeat(word, deltas))),
	)}
	h := &http.Client{Transport: &tape}
	whole := func(read reader) {
		n := 0
		if err := read(b.Context(), h, func(s string) { n += len(s) }); err != nil || n != deltas*len(word) {
			b.Fatalf("%d bytes of text: %v", n, err)
		}
	}
	whole(ours)
	tape.handler = nil
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		whole(read)
	}
	runtime.ReadMemStats(&after)
	n := float64(b.N) * float64(deltas)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/delta")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/delta")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/delta")
	b.ReportMetric(0, "ns/op")
}

// ours is the reader that a client of ours is.
func ours(client func(h *http.Client) llm.Client) reader {
	return func(ctx context.Context, h *http.Client, f func(text string)) error {
		for e, err := range client(h).Stream(ctx, &llm.Request{Messages: []llm.Message{llm.UserText("?")}}) {
			if err != nil {
				return err
			}
			if t, ok := e.(llm.TextDelta); ok {
				f(t.Text)
			}
		}
		return nil
	}
}

// tape is a server in memory: it records an answer of the model server, and gives it again when that is gone.
type tape struct {
	handler http.Handler
	mime    string
	body    []byte
}

// RoundTrip implements http.RoundTripper.
func (t *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.handler != nil {
		w := httptest.NewRecorder()
		t.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return nil, errors.New(w.Body.String())
		}
		t.mime, t.body = w.Header().Get("Content-Type"), w.Body.Bytes()
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {t.mime}, "X-Amzn-Requestid": {"req_1"}},
		Body:   io.NopCloser(bytes.NewReader(t.body)), ContentLength: int64(len(t.body)), Request: r,
	}, nil
}
