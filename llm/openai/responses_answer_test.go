package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
)

// Each stream in testdata yields the events in the golden file next to it.
func TestResponsesAnswers(t *testing.T) {
	respFixtures(t, func(t *testing.T, name string, data []byte) {
		recorded.Golden(t, name+".golden", recorded.Trace(t.Context(), respAnswering(respSSE, bytes.NewReader(data)), recorded.Ask()), *update)
	})
}

// The events of an answer make up its message.
func TestResponsesEventsMakeTheMessage(t *testing.T) {
	respFixtures(t, func(t *testing.T, _ string, data []byte) {
		var text, thought, args string
		for e, err := range respAnswering(respSSE, bytes.NewReader(data)).Stream(t.Context(), recorded.Ask()) {
			if err != nil {
				t.Skip("it fails")
			}
			switch e := e.(type) {
			case llm.TextDelta:
				text += e.Text
			case llm.ThinkingDelta:
				thought += e.Text
			case llm.CallDelta:
				args += e.Arguments
			case llm.Done:
				for _, p := range e.Message.Content {
					switch p := p.(type) {
					case llm.Text:
						text = text[min(len(text), len(p.Text)):]
					case llm.Thinking:
						thought = thought[min(len(thought), len(p.Text)):]
					case llm.ToolCall:
						args = strings.Replace(args, p.Arguments, "", 1)
					}
				}
			}
		}
		if text+thought+args != "" {
			t.Errorf("the events have more than the message: %q, %q, %q", text, thought, args)
		}
	})
}

// An answer means the same however the network cuts it into pieces.
func TestResponsesChopped(t *testing.T) {
	respFixtures(t, func(t *testing.T, name string, data []byte) {
		want := recorded.Trace(t.Context(), respAnswering(respSSE, bytes.NewReader(data)), recorded.Ask())
		for at := 0; at < len(data); at += respStep(name) {
			body := io.MultiReader(bytes.NewReader(data[:at]), bytes.NewReader(data[at:]))
			if got := recorded.Trace(t.Context(), respAnswering(respSSE, body), recorded.Ask()); got != want {
				t.Fatalf("cut at byte %d: got\n%s\nwant\n%s", at, got, want)
			}
		}
		one := respAnswering(respSSE, oneByte{bytes.NewReader(data)})
		if got := recorded.Trace(t.Context(), one, recorded.Ask()); got != want {
			t.Fatalf("byte by byte: got\n%s\nwant\n%s", got, want)
		}
	})
}

// respStep is how far apart the places are at which a stream is cut: every byte of the short ones, which have everything in them.
func respStep(name string) int {
	if slices.Contains([]string{"open_model", "no_deltas", "only_completed"}, filepath.Base(name)) {
		return 1
	}
	return 37
}

// oneByte reads a byte at a time.
type oneByte struct{ r io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.r.Read(p[:min(len(p), 1)]) }

// A stream that ends early, wherever that is, is an error and never a shorter answer.
func TestResponsesCutAnywhere(t *testing.T) {
	respFixtures(t, func(t *testing.T, name string, data []byte) {
		if strings.Contains(name, "fail_") {
			t.Skip("it is an error anyway")
		}
		last := bytes.LastIndex(data, []byte(`"response.`)) // of the final event
		for at := 0; at < last; at += respStep(name) {
			for e, err := range respAnswering(respSSE, bytes.NewReader(data[:at])).Stream(t.Context(), recorded.Ask()) {
				if _, done := e.(llm.Done); done {
					t.Fatalf("cut at byte %d: it is taken for whole", at)
				}
				if err != nil && !llm.AsError(err).Retryable() {
					t.Fatalf("cut at byte %d: %v", at, err)
				}
			}
		}
	})
}

// The final event repeats the answer. As an answer of its own, not streamed, it gives the same message.
func TestResponsesWholeAndStreamed(t *testing.T) {
	respFixtures(t, func(t *testing.T, _ string, data []byte) {
		streamed, err := llm.Collect(t.Context(), respAnswering(respSSE, bytes.NewReader(data)), recorded.Ask())
		if err != nil {
			t.Skip("it fails")
		}
		var final struct{ Response json.RawMessage }
		for line := range bytes.Lines(data) {
			if line, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
				final.Response = nil
				if err := json.Unmarshal(append([]byte("{"), line...), &final); err != nil {
					t.Fatal(err)
				}
			}
		}
		if final.Response == nil {
			t.Skip("it repeats nothing")
		}
		whole, err := llm.Collect(t.Context(), respAnswering(respJSON, bytes.NewReader(final.Response)), recorded.Ask())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(streamed, whole) {
			t.Errorf("streamed %+v\nwhole %+v", streamed, whole)
		}
	})
}

// A consumer may leave after any event; nothing is yielded then.
func TestResponsesLeave(t *testing.T) {
	respFixtures(t, func(t *testing.T, _ string, data []byte) {
		for stop := 1; ; stop++ {
			n := 0
			for range respAnswering(respSSE, bytes.NewReader(data)).Stream(t.Context(), recorded.Ask()) {
				if n++; n == stop {
					break
				}
			}
			if n < stop {
				return
			}
		}
	})
}

// A body that is not streamed and no answer is an error that says so.
func TestResponsesWholeFailures(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind llm.Kind
		text string
	}{
		"an error with status 200": {`{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, llm.KindRateLimited, "slow down"},
		"an error as a string":     {`{"error":"no such model"}`, llm.KindOverloaded, "no such model"},
		"a failed answer":          {`{"object":"response","status":"failed","error":{"code":"server_error","message":"oh"}}`, llm.KindOverloaded, "oh"},
		"a failure in a word":      {`{"object":"response","status":"failed","error":"oh no"}`, llm.KindOverloaded, "oh no"},
		"an answer under way":      {`{"object":"response","status":"queued","output":[]}`, llm.KindProtocol, "queued"},
		"one of Chat Completions":  {`{"object":"chat.completion","choices":[]}`, llm.KindProtocol, "base URL"},
		"an empty object":          {`{}`, llm.KindProtocol, "base URL"},
		"half of it":               {`{"object":"response","output":[{"type":"mess`, llm.KindProtocol, "malformed"},
		"an odd item":              {`{"output":[{"type":"message","content":1}]}`, llm.KindProtocol, "malformed"},
		"nothing":                  {``, llm.KindProtocol, "malformed"},
		"too many items":           {`{"output":[` + strings.Repeat(`{"type":"message"},`, 1000) + `{"type":"message"}]}`, llm.KindProtocol, "1000 items"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := llm.Collect(t.Context(), respAnswering(respJSON, strings.NewReader(c.body)), recorded.Ask())
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Kind != c.kind || !strings.Contains(e.Error(), c.text) {
				t.Errorf("got %v, want %s with %q", err, c.kind, c.text)
			}
		})
	}
}

// The number of items is bounded in a stream too, announced or not.
func TestResponsesTooManyItems(t *testing.T) {
	for name, event := range map[string]string{
		"announced":         `{"type":"response.output_item.added","item":{"type":"reasoning"}}`,
		"texts":             `{"type":"response.output_text.delta","delta":"x","output_index":N}`,
		"done texts":        `{"type":"response.output_text.done","text":"x","output_index":N}`,
		"reasoning":         `{"type":"response.reasoning_text.delta","delta":"x","output_index":N}`,
		"done reasoning":    `{"type":"response.reasoning_text.done","text":"x","output_index":N}`,
		"calls":             `{"type":"response.function_call_arguments.delta","delta":"x","output_index":N}`,
		"items that follow": `{"type":"response.output_item.done","item":{"type":"function_call"},"output_index":N}`,
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range 1001 {
				b.WriteString("data: " + strings.ReplaceAll(event, "N", itoa(i)) + "\n\n")
			}
			_, err := llm.Collect(t.Context(), respAnswering(respSSE, strings.NewReader(b.String())), recorded.Ask())
			if err == nil || !strings.Contains(err.Error(), "1000 items") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func itoa(n int) string {
	data, _ := json.Marshal(n)
	return string(data)
}

// A context that ends stops the answer at once.
func TestResponsesCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		_, _ = io.WriteString(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"So\"}\n\n")
		<-ctx.Done()
		_ = w.CloseWithError(context.Cause(ctx)) // as a transport does
	}()
	for e, err := range respAnswering(respSSE, r).Stream(ctx, recorded.Ask()) {
		if _, ok := e.(llm.TextDelta); ok {
			cancel()
			continue
		}
		if llm.AsError(err).Kind != llm.KindCancelled {
			t.Errorf("got %v, %v", e, err)
		}
	}
	cancel()
}
