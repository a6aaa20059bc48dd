package google_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
)

// trace prints the events of a stream, one per line. It prints a violation for every end other than one Done or one *llm.Error.
func trace(stream iter.Seq2[llm.Event, error]) string {
	var b strings.Builder
	over := false
	for e, err := range stream {
		if over {
			b.WriteString("violation: something follows the end\n")
		}
		if err != nil {
			over = true
			failed, ok := errors.AsType[*llm.Error](err)
			if !ok {
				fmt.Fprintf(&b, "violation: %T\n", err)
				continue
			}
			fmt.Fprintf(&b, "error %s", failed)
			if failed.RetryAfter > 0 {
				fmt.Fprintf(&b, " (after %v)", failed.RetryAfter)
			}
			b.WriteString("\n")
			continue
		}
		_, over = e.(llm.Done)
		data, err := llm.MarshalEvent(e)
		if err != nil {
			fmt.Fprintf(&b, "violation: %v\n", err)
		}
		b.Write(data)
		b.WriteString("\n")
	}
	if !over {
		b.WriteString("violation: no end\n")
	}
	return b.String()
}

func hi() *llm.Request { return &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}} }

// Each stream in testdata/stream yields the events in the golden file next to it.
func TestStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/stream/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sse")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			body := strings.TrimSuffix(string(data), "<cut>\n") // editors end files with a line break
			got := trace(google.New(flash(), on(sse(body))).Stream(t.Context(), hi()))
			golden(t, "stream/"+name+".golden", got)
			slow := reply(200, "text/event-stream", iotest.OneByteReader(strings.NewReader(body)))
			if again := trace(google.New(flash(), on(slow)).Stream(t.Context(), hi())); again != got {
				t.Errorf("byte by byte it is\n%s", again)
			}
		})
	}
}

const wholeAnswer = `{
  "candidates": [{
    "content": {"parts": [
      {"text": "Let me see.", "thought": true},
      {"text": "Grüße, 世界. "},
      {"text": "Looking", "thoughtSignature": "c2lnbmVkIHRleHQ="},
      {"functionCall": {"name": "look", "args": {"path": "a b", "deep": {"n": [1, 2]}}}, "thoughtSignature": "c2lnbmVkIGNhbGw="},
      {"functionCall": {"id": "own-id", "name": "look", "args": {}}}
    ], "role": "model"},
    "finishReason": "STOP", "index": 0
  }],
  "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20, "thoughtsTokenCount": 7, "totalTokenCount": 127},
  "modelVersion": "gemini-2.5-flash", "responseId": "r1"
}`

func message(t *testing.T, c llm.Client) string {
	t.Helper()
	m, err := llm.Collect(t.Context(), c, hi())
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// The same answer is the same message, however it comes: whole, as a list, or as a stream cut into pieces anywhere.
func TestWholeAndStreamedAreTheSame(t *testing.T) {
	whole := func(body string) string {
		o := on(reply(200, "application/json; charset=UTF-8", strings.NewReader(body)))
		o.NoStream = true
		return message(t, google.New(flash(), o))
	}
	want := whole(wholeAnswer)
	golden(t, "whole.golden", want)
	pieces := []string{
		`{"candidates":[{"content":{"parts":[{"text":"Let me ","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":100,"totalTokenCount":100}}`,
		`{"candidates":[{"content":{"parts":[{"text":"see.","thought":true}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"Grüße, "}]}}],"usageMetadata":{"trafficType":"ON_DEMAND"}}`,
		`{"candidates":[{"content":{"parts":[{"text":"世界. "}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"Looking","thoughtSignature":"c2lnbmVkIHRleHQ="}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"path":"a b","deep":{"n":[1,2]}}},"thoughtSignature":"c2lnbmVkIGNhbGw="}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"own-id","name":"look","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":20,"thoughtsTokenCount":7,"totalTokenCount":127},"responseId":"r1"}`,
	}
	if got := whole("[" + strings.Join(pieces, ",\n") + "]"); got != want {
		t.Errorf("as a list it is\n%s", got)
	}
	body := "data: " + strings.Join(pieces, "\r\n\r\ndata: ") + "\r\n\r\n"
	for at := range len(body) {
		parts := strings.NewReader(body[:at])
		rest := strings.NewReader(body[at:])
		got := message(t, google.New(flash(), on(reply(200, "text/event-stream", iotest.DataErrReader(&joined{parts, rest})))))
		if got != want {
			t.Fatalf("in two pieces at %d it is\n%s", at, got)
		}
	}
}

// joined gives what its readers have, never of two at once.
type joined struct{ a, b *strings.Reader }

func (j *joined) Read(p []byte) (int, error) {
	if j.a.Len() > 0 {
		return j.a.Read(p)
	}
	return j.b.Read(p)
}

// A consumer may leave anywhere.
func TestLeaving(t *testing.T) {
	data, err := os.ReadFile("testdata/stream/parallel_calls.sse")
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{string(data), "data: [" + strings.ReplaceAll(wholeAnswer, "\n", "") + "]\n\n"} {
		for n := 0; ; n++ {
			got := 0
			for range google.New(flash(), on(sse(stream))).Stream(t.Context(), hi()) {
				if got == n {
					break
				}
				got++
			}
			if got < n {
				break
			}
		}
	}
}

// A consumer that stops reading before the answer does not get a later failure.
func TestLeavingBeforeAFailure(t *testing.T) {
	gateway := server(func(r *http.Request) (*http.Response, error) {
		resp, err := sse("data: {}\n\n")(r)
		resp.Header.Set("X-Ratelimit-Limit-Requests", "5")
		return resp, err
	})
	for range google.New(flash(), on(gateway)).Stream(t.Context(), hi()) {
		break
	}
}

// A stream ends at once when its context does, wherever it is.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range google.New(flash(), on(newStalled(someText))).Stream(ctx, hi()) {
		cancel()
		if err != nil && llm.AsError(err).Kind != llm.KindCancelled {
			t.Errorf("got %v", err)
		}
	}
	for _, err := range google.New(flash(), on(newStalled(someText))).Stream(ctx, hi()) {
		if llm.AsError(err).Kind != llm.KindCancelled {
			t.Errorf("before it began: got %v", err)
		}
	}
}
