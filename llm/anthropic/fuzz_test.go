package anthropic

import (
	"bytes"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// checkEnd runs an answer and makes sure that it ends as every answer must: with one message or one typed error. The stream
// yields no more than arrived.
func checkEnd(t *testing.T, media string, data []byte) {
	req := recorded.Ask()
	req.Schema = []byte(`{"type":"object"}`) // calls of the tool for it have a path of their own
	ends, size := 0, 0
	for e, err := range answering(media, bytes.NewReader(data)).Stream(t.Context(), req) {
		if ends > 0 {
			t.Fatal("something follows the end")
		}
		switch e := e.(type) {
		case llm.TextDelta:
			size += len(e.Text)
		case llm.ThinkingDelta:
			size += len(e.Text)
		case llm.CallDelta:
			size += len(e.Arguments)
		case llm.Done:
			ends++
			if _, err := llm.MarshalEvent(e); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			ends++
			if failed, ok := err.(*llm.Error); !ok || failed.Model == "" {
				t.Fatalf("an error of another type: %#v", err)
			}
		}
	}
	if ends != 1 || size > 3*len(data) { // a byte that is not UTF-8 becomes three
		t.Fatalf("%d ends, %d bytes of deltas of %d", ends, size, len(data))
	}
}

func FuzzStream(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Add([]byte(`data: {"type":"content_block_start","index":-1,"content_block":{"type":"tool_use","name":"` + fit.SchemaToolName + `"}}` + "\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkEnd(t, "text/event-stream", data) })
}

func FuzzWhole(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkEnd(t, "application/json", data) })
}

func FuzzEnforceable(f *testing.F) {
	f.Add([]byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"items":{"anyOf":[true]}}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) { enforceable(data) })
}
