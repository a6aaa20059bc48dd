package google_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
)

// BenchmarkStream reads an answer of many small pieces.
func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	var body bytes.Buffer
	for range deltas {
		body.WriteString(`data: {"candidates": [{"content": {"parts": [{"text": " word"}],"role": "model"},"index": 0}],` +
			`"usageMetadata": {"promptTokenCount": 54,"candidatesTokenCount": 14,"totalTokenCount": 68,` +
			`"promptTokensDetails": [{"modality": "TEXT","tokenCount": 54}]},"modelVersion": "gemini-2.5-flash","responseId": "abc"}` + "\r\n\r\n")
	}
	body.WriteString(theEnd)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		c := google.New(flash(), on(reply(200, "text/event-stream", bytes.NewReader(body.Bytes()))))
		if m, err := llm.Collect(b.Context(), c, hi()); err != nil || len(m.Text()) != 5*deltas+1 {
			b.Fatal(err, len(m.Text()))
		}
	}
	runtime.ReadMemStats(&after)
	n := float64(b.N) * deltas
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/delta")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/delta")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/delta")
}
