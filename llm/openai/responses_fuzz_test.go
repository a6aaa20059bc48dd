package openai_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
)

// respEnds fails unless an answer ends with a message that can be kept, or with a typed error.
func respEnds(t *testing.T, c *openai.Responses, size int) {
	t.Helper()
	ends, seen := 0, 0
	for e, err := range c.Stream(t.Context(), recorded.Ask()) {
		if ends > 0 {
			t.Fatal("something follows the end")
		}
		switch e := e.(type) {
		case llm.Done:
			ends++
			if _, err := json.Marshal(e.Message); err != nil {
				t.Errorf("the message cannot be kept: %v", err)
			}
		case llm.TextDelta:
			seen += len(e.Text)
		case llm.ThinkingDelta:
			seen += len(e.Text)
		case llm.CallDelta:
			seen += len(e.Arguments)
		}
		if err != nil {
			ends++
			if _, ok := err.(*llm.Error); !ok {
				t.Errorf("%T: %v", err, err)
			}
		}
	}
	if ends != 1 {
		t.Errorf("the answer has %d ends", ends)
	}
	if seen > 4*size+16 { // the stream yields each byte once; repaired UTF-8 is longer
		t.Errorf("%d bytes arrived and the stream yielded %d", size, seen)
	}
}

// Whatever a server streams, the answer ends.
func FuzzResponsesStream(f *testing.F) {
	paths, err := filepath.Glob("testdata/responses/answers/*.sse")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { respEnds(t, respAnswering(respSSE, bytes.NewReader(data)), len(data)) })
}

// Whatever a server answers at once, the answer ends.
func FuzzResponsesWhole(f *testing.F) {
	f.Add([]byte(`{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`))
	f.Add([]byte(`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","name":"a","arguments":"{"}]}`))
	f.Add([]byte(`{"output":[{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[{"text":"a"}]},{"type":"reasoning"},{}],"usage":{"cost":1}}`))
	f.Add([]byte(`{"error":{"code":1,"message":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		respEnds(t, respAnswering(respJSON, bytes.NewReader(data)), len(data))
	})
}

// Whatever was kept of an answer, the request that carries it can be written.
func FuzzResponsesOpaque(f *testing.F) {
	f.Add([]byte(`{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}`))
	f.Add([]byte(`{"phase":"commentary"}`))
	f.Add([]byte(`{"type":"reasoning","content":[{}],"id":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req := &llm.Request{Messages: []llm.Message{llm.UserText("Hello"), {
			Role: llm.RoleAssistant, Model: "openai/gpt-5",
			Content: llm.Content{llm.Thinking{Opaque: data}, llm.Text{Text: "Hm", Opaque: data}, llm.ToolCall{ID: "c", Name: "n", Opaque: data}},
		}}}
		if _, body := respSent(t, respModel(), openai.ResponsesOptions{}, req); !json.Valid(body) {
			t.Errorf("no JSON: %s", body)
		}
	})
}
