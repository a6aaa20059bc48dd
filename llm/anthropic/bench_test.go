package anthropic

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
)

// many is an answer of n small deltas.
func many(n int, delta string) []byte {
	var b bytes.Buffer
	b.WriteString(`event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"m","model":"claude-test","usage":{"input_tokens":9}}}` + "\n\n")
	b.WriteString(`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"x","input":{}}}` + "\n\n")
	for range n {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":%s}\n\n", delta)
	}
	b.WriteString(`event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}` + "\n\n")
	b.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return b.Bytes()
}

func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	for name, delta := range map[string]string{
		"text":      `{"type":"text_delta","text":"hello "}`,
		"thinking":  `{"type":"thinking_delta","thinking":"hello "}`,
		"arguments": `{"type":"input_json_delta","partial_json":"hello "}`,
	} {
		data := many(deltas, delta)
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if _, err := llm.Collect(b.Context(), answering("text/event-stream", bytes.NewReader(data)), recorded.Ask()); err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			n := float64(b.N) * deltas
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/delta")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/delta")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/delta")
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	req := &llm.Request{System: strings.Repeat("system ", 500), Tools: tools()}
	for range 200 {
		req.Messages = append(req.Messages, everything(b)...)
	}
	c := New(testModel(), Options{})
	b.ReportAllocs()
	for b.Loop() {
		c.request(req)
	}
}
