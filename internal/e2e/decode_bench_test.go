package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// BenchmarkDecode reads answers of few and of many deltas with the client of each protocol. What a delta takes must not
// depend on how many there are; live-KB is what is held when the last has come, and the text itself is 5 bytes a delta.
func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name   string
		client func(wire.Endpoint) llm.Client
	}{
		{"anthropic", func(e wire.Endpoint) llm.Client {
			return anthropic.New(llm.Model{Provider: "p", ID: "claude-sonnet-4-6", MaxOutput: 1000}, anthropic.Options{Endpoint: e})
		}},
		{"chat", func(e wire.Endpoint) llm.Client {
			profile, _ := openai.ProfileOf("openai")
			return openai.NewChat(llm.Model{Provider: "p", ID: "gpt-5.4"}, openai.ChatOptions{Endpoint: e, Profile: profile})
		}},
		{"responses", func(e wire.Endpoint) llm.Client {
			return openai.NewResponses(llm.Model{Provider: "p", ID: "gpt-5.4"}, openai.ResponsesOptions{Endpoint: e})
		}},
		{"gemini", func(e wire.Endpoint) llm.Client {
			return google.New(llm.Model{Provider: "p", ID: "gemini-3.5-flash"}, google.Options{Endpoint: e})
		}},
		{"bedrock", func(e wire.Endpoint) llm.Client {
			return bedrock.New(llm.Model{Provider: "p", ID: "us.anthropic.claude-sonnet-4-6"}, bedrock.Options{Endpoint: e, Region: "us-east-1"})
		}},
	} {
		for _, deltas := range []int{1_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", c.name, deltas), func(b *testing.B) {
				var tape tape
				client := c.client(wire.Endpoint{BaseURL: "http://server/v1", Key: "k", HTTP: &http.Client{Transport: &tape}})
				tape.record(b, client, deltas)
				benchDecode(b, client, deltas)
			})
		}
	}
}

func benchDecode(b *testing.B, client llm.Client, deltas int) {
	live := held(b, client, deltas)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		read(b, client, func(int) {})
	}
	runtime.ReadMemStats(&after)
	n := float64(b.N) * float64(deltas)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/delta")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/delta")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/delta")
	b.ReportMetric(live/1024, "live-KB")
	b.ReportMetric(0, "ns/op")
}

// held returns how much memory is held when the last delta has come.
func held(b *testing.B, client llm.Client, deltas int) float64 {
	held := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold survives the first
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before, at := held(), 0.0
	read(b, client, func(n int) {
		if n == deltas {
			at = held()
		}
	})
	return at - before
}

// read reads an answer and calls f with the number of each piece of text.
func read(b *testing.B, client llm.Client, f func(n int)) (n int) {
	for e, err := range client.Stream(b.Context(), &llm.Request{Messages: []llm.Message{llm.UserText("?")}}) {
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := e.(llm.TextDelta); ok {
			n++
			f(n)
		}
	}
	return n
}

// tape is a server in memory that has recorded one answer of the model server and gives it to all.
type tape struct {
	handler http.Handler
	mime    string
	body    []byte
}

// record lets the model server write an answer of that many deltas.
func (t *tape) record(b *testing.B, client llm.Client, deltas int) {
	const word = "word "
	t.handler = modelserver.NewHandler(
		modelserver.With(modelserver.Config{DeltaBytes: len(word)}), modelserver.Steps(modelserver.Say(strings.Repeat(word, deltas))),
	)
	if n := read(b, client, func(int) {}); n != deltas {
		b.Fatalf("%d deltas, want %d", n, deltas)
	}
	t.handler = nil
}

// RoundTrip implements http.RoundTripper.
func (t *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.handler != nil {
		w := httptest.NewRecorder()
		t.handler.ServeHTTP(w, r)
		t.mime, t.body = w.Header().Get("Content-Type"), w.Body.Bytes()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {t.mime}}, Body: io.NopCloser(bytes.NewReader(t.body)),
		ContentLength: int64(len(t.body)), Request: r,
	}, nil
}
