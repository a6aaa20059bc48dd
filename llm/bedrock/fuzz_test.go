package bedrock_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
)

// ends fails the test unless the answer ends as every answer must: with Done or with an [*llm.Error], and nothing after it.
func ends(t *testing.T, c llm.Client) {
	t.Helper()
	over := false
	for e, err := range c.Stream(t.Context(), ask("?")) {
		if over {
			t.Fatalf("something comes after the end: %v %v", e, err)
		}
		if err != nil {
			if _, ok := err.(*llm.Error); !ok || e != nil {
				t.Fatalf("%v with %T %v", e, err, err)
			}
			over = true
		}
		if d, ok := e.(llm.Done); ok {
			over = true
			if _, err := d.Message.Content.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !over {
		t.Fatal("there was no end")
	}
}

// Any events, in a readable form: every stream ends in an orderly way.
func FuzzStream(f *testing.F) {
	f.Add(complete)
	names, err := filepath.Glob("testdata/stream/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(part(a, "stream"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<20 {
			return
		}
		for line := range strings.Lines(text) {
			if kind, _, _ := strings.Cut(strings.TrimSpace(line), " "); len(kind) > 1<<15 {
				return // the maximum length of the name of an event
			}
		}
		ends(t, saying(haiku, eventStream, bytes.NewReader(binary(t, text))))
	})
}

// Any bytes where a stream was due.
func FuzzBytes(f *testing.F) {
	f.Add(binary(f, complete))
	f.Add([]byte("{}"))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ends(t, saying(haiku, eventStream, bytes.NewReader(data)))
		ends(t, saying(haiku, "", bytes.NewReader(data)))
	})
}

// Any answer that is not streamed.
func FuzzWhole(f *testing.F) {
	f.Add(`{"output":{"message":{"content":[{"text":"a"},{"toolUse":{"toolUseId":"t","name":"n","input":{}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1}}`)
	f.Add(`{"output":{"message":{"content":[{"reasoningContent":{"redactedContent":"aGk="}},{"reasoningContent":{"reasoningText":{"text":"t"}}}]}}}`)
	f.Add(`{"message":"nothing"}`)
	f.Add(`{"output":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		ends(t, saying(haiku, "application/json", strings.NewReader(body)))
	})
}

// endless is a server that writes small texts.
type endless struct {
	frame []byte
	left  int
	rest  []byte
	last  []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		switch {
		case e.left > 0:
			e.rest = e.frame
			e.left--
		case e.last != nil:
			e.rest, e.last = e.last, nil
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	frame := binary(b, `contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"word "},"p":"abcdefghijklmnopqrstu"}`)
	last := binary(b, "messageStop {\"stopReason\":\"end_turn\"}\nmetadata {\"usage\":{\"inputTokens\":1,\"outputTokens\":2}}")
	var body *endless
	c := bedrock.New(haiku, bedrock.Options{Endpoint: at(func(*http.Request) (*http.Response, error) {
		return answer(http.StatusOK, eventStream, body), nil
	})})
	req := ask("?")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		body = &endless{frame: frame, left: deltas, last: last}
		n := 0
		for _, err := range c.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != deltas+1 {
			b.Fatalf("%d events", n)
		}
	}
	runtime.ReadMemStats(&after)
	all := float64(b.N) * deltas
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/all, "ns/delta")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/all, "allocs/delta")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/all, "B/delta")
}
