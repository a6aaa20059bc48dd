package google_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm/google"
)

// Whatever a server sends, the answer ends with one Done or one *llm.Error.
func FuzzStream(f *testing.F) {
	files, err := filepath.Glob("testdata/stream/*.sse")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := trace(google.New(flash(), on(reply(200, "text/event-stream", bytes.NewReader(data)))).Stream(t.Context(), hi()))
		if strings.Contains(got, "violation") || len(got) > 100*len(data)+10_000 {
			t.Errorf("got %.2000s", got)
		}
	})
}

func FuzzWhole(f *testing.F) {
	for _, s := range []string{wholeAnswer, "[" + wholeAnswer + "]", "[]", "{}", "[", `{"error":{"code":"x"}}`, `{"candidates":[{"finishReason":"STOP"}]}`, "null", "[null]", "7"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := on(reply(200, "application/json", bytes.NewReader(data)))
		o.NoStream = true
		got := trace(google.New(flash(), o).Stream(t.Context(), hi()))
		if strings.Contains(got, "violation") || len(got) > 100*len(data)+10_000 {
			t.Errorf("got %.2000s", got)
		}
	})
}
