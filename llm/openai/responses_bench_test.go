package openai_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
)

// BenchmarkResponsesStream reads an answer of many small deltas.
func BenchmarkResponsesStream(b *testing.B) {
	for _, deltas := range []int{2_000, 20_000} {
		b.Run(fmt.Sprint(deltas), func(b *testing.B) { benchResponses(b, deltas) })
	}
}

func benchResponses(b *testing.B, deltas int) {
	var stream bytes.Buffer
	stream.WriteString("data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"msg_08521e071015afca\",\"type\":\"message\"}}\n\n")
	for i := range deltas {
		fmt.Fprintf(&stream, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"content_index\":0,"+
			"\"delta\":\" word\",\"item_id\":\"msg_08521e071015afca\",\"logprobs\":[],\"obfuscation\":\"spy0146YTvT\",\"output_index\":0,\"sequence_number\":%d}\n\n", i)
	}
	stream.WriteString("data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n")
	var before, after runtime.MemStats
	b.SetBytes(int64(stream.Len()))
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		n++
		for _, err := range respAnswering(respSSE, bytes.NewReader(stream.Bytes())).Stream(b.Context(), recorded.Ask()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	all := float64(n * deltas)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/all, "ns/delta")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/all, "allocs/delta")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/all, "B/delta")
}
