package bedrock_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
)

var update = flag.Bool("update", false, "rewrite the expected outcomes")

// Each file of testdata/stream has a stream in a readable form, see binary, and what becomes of it. With a part "whole" there
// is the same answer as it comes when it is not streamed: it must give the same message.
func TestStream(t *testing.T) {
	for _, name := range files(t, "stream") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			m := haiku
			if id := strings.TrimSpace(string(a.Comment)); id != "" {
				m = llm.Model{Provider: "bedrock", ID: id}
			}
			stream := binary(t, part(a, "stream"))
			got := trace(t.Context(), saying(m, eventStream, bytes.NewReader(stream)), ask("?"))
			compare(t, name, a, "want", got)
			chopped := trace(t.Context(), saying(m, eventStream, iotest.OneByteReader(bytes.NewReader(stream))), ask("?"))
			if chopped != got {
				t.Errorf("byte by byte:\n%s", chopped)
			}
			if whole := part(a, "whole"); whole != "" {
				got := trace(t.Context(), saying(m, "application/json", strings.NewReader(whole)), ask("?"))
				if last(got) != last(part(a, "want")) {
					t.Errorf("not streamed:\n%s", got)
				}
			}
		})
	}
}

// last is the last event of a trace.
func last(trace string) string {
	at := max(strings.LastIndex(trace, "\ndone"), strings.LastIndex(trace, "\nerror"), 0)
	return strings.TrimSpace(trace[at:])
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/" + dir + "/*")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	return names
}

func part(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func compare(t *testing.T, path string, a *txtar.Archive, name, got string) {
	t.Helper()
	if part(a, name) == got {
		return
	}
	if !*update {
		t.Errorf("got:\n%swant:\n%s", got, part(a, name))
		return
	}
	found := false
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data, found = []byte(got), true
		}
	}
	if !found {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got)})
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

const complete = `
	messageStart {"role":"assistant"}
	contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Let me "}}}
	contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"see."}}}
	contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"sig"}}}
	contentBlockStop {"contentBlockIndex":0}
	contentBlockDelta {"contentBlockIndex":1,"delta":{"text":"Grüße, "}}
	contentBlockDelta {"contentBlockIndex":1,"delta":{"text":"日本."}}
	contentBlockStop {"contentBlockIndex":1}
	contentBlockStart {"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t1","name":"read"}}}
	contentBlockDelta {"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"path\":"}}}
	contentBlockDelta {"contentBlockIndex":2,"delta":{"toolUse":{"input":"\"a.go\"}"}}}
	contentBlockStop {"contentBlockIndex":2}
	messageStop {"stopReason":"tool_use"}
	metadata {"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15}}
`

// A stream may be cut anywhere: before the answer is complete that is an error, whatever had come; behind its end, only the
// usage is missing.
func TestCutAnywhere(t *testing.T) {
	stream := binary(t, complete)
	end := len(binary(t, complete[:strings.Index(complete, "metadata")]))
	whole, err := llm.Collect(t.Context(), saying(haiku, eventStream, bytes.NewReader(stream)), ask("?"))
	if err != nil || whole.Usage.Output != 5 {
		t.Fatal(whole, err)
	}
	for n := range stream {
		m, err := llm.Collect(t.Context(), saying(haiku, eventStream, bytes.NewReader(stream[:n])), ask("?"))
		switch {
		case n < end:
			if e := llm.AsError(err); err == nil || e.Kind != llm.KindProtocol || !strings.Contains(e.Message, "cut off") {
				t.Fatalf("cut at %d of %d: %v", n, len(stream), err)
			}
		case err != nil || m.Text() != whole.Text() || len(m.Calls()) != 1:
			t.Fatalf("cut at %d behind the end: %v %v", n, m, err)
		}
	}
}

// A damaged byte is noticed, wherever it is.
func TestDamage(t *testing.T) {
	stream := binary(t, complete[:strings.Index(complete, "metadata")])
	for n := range stream {
		damaged := bytes.Clone(stream)
		damaged[n] ^= 0x10
		m, err := llm.Collect(t.Context(), saying(haiku, eventStream, bytes.NewReader(damaged)), ask("?"))
		if e := llm.AsError(err); err == nil || e.Kind != llm.KindProtocol {
			t.Fatalf("byte %d: %v %v", n, m, err)
		}
	}
}

// broken is a reader that fails where a connection would.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func TestBrokenConnection(t *testing.T) {
	stream := binary(t, complete)
	got := trace(t.Context(), saying(haiku, eventStream, io.MultiReader(bytes.NewReader(stream[:200]), broken{errors.New("reset")})), ask("?"))
	if want := "error bedrock/" + haiku.ID + ": network: reset [request req-1]\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	before := len(binary(t, complete[:strings.Index(complete, "metadata")]))
	m, err := llm.Collect(t.Context(), saying(haiku, eventStream, io.MultiReader(bytes.NewReader(stream[:before]), broken{errors.New("reset")})), ask("?"))
	if err != nil || m.Stop != llm.StopCalls {
		t.Errorf("behind the end: %v %v", m, err)
	}
}

// silence is a body that says nothing more until it is closed.
type silence struct{ closed chan struct{} }

func (s silence) Read([]byte) (int, error) { <-s.closed; return 0, io.ErrClosedPipe }
func (s silence) Close() error             { close(s.closed); return nil }

// stalling returns a client whose answer begins with that text and then stops.
func stalling(tb testing.TB, text string) *bedrock.Client {
	data := binary(tb, text)
	return bedrock.New(haiku, bedrock.Options{Endpoint: at(func(r *http.Request) (*http.Response, error) {
		s := silence{make(chan struct{})}
		stop := context.AfterFunc(r.Context(), func() { _ = s.Close() })
		resp := answer(http.StatusOK, eventStream, nil)
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(data), s), closer(func() error { stop(); return nil })}
		return resp, nil
	})})
}

type closer func() error

func (f closer) Close() error { return f() }

func TestStalls(t *testing.T) {
	before, _, _ := strings.Cut(complete, "messageStop")
	untilStop, _, _ := strings.Cut(complete, "metadata")
	tests := []struct {
		name, stream string
		after        time.Duration
		kind         llm.Kind
	}{
		{"before the first byte", "", 120 * time.Second, llm.KindStalled},
		{"within the answer", before, 60 * time.Second, llm.KindStalled},
		{"before the usage, which is not worth a long wait", untilStop, 5 * time.Second, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := llm.Collect(t.Context(), stalling(t, tt.stream), ask("?"))
				kind := llm.Kind("")
				if err != nil {
					kind = llm.AsError(err).Kind
				}
				if time.Since(start) != tt.after || kind != tt.kind {
					t.Errorf("after %v: %v", time.Since(start), err)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	untilStop, _, _ := strings.Cut(complete, "metadata")
	for _, stream := range []string{"", untilStop} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			_, err := llm.Collect(ctx, stalling(t, stream), ask("?"))
			if llm.AsError(err).Kind != llm.KindCancelled || time.Since(start) != time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	}
}

// Who leaves in the middle of an answer hears no more of it.
func TestLeave(t *testing.T) {
	c := saying(haiku, eventStream, bytes.NewReader(binary(t, complete)))
	n := 0
	for range c.Stream(t.Context(), ask("?")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d events", n)
	}
}

// A consumer that stops reading before the answer does not get a later failure.
func TestLeaveBeforeAFailure(t *testing.T) {
	c := bedrock.New(haiku, bedrock.Options{Endpoint: at(func(*http.Request) (*http.Response, error) {
		r := answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, `! throttlingException {"message":"slow"}`)))
		r.Header.Set("X-Ratelimit-Limit-Requests", "5")
		return r, nil
	})})
	for range c.Stream(t.Context(), ask("?")) {
		break
	}
}
