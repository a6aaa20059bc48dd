package recorded_test

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// A trace has every event and the error, and compares with a file that it was written to.
func TestTrace(t *testing.T) {
	got := recorded.Trace(t.Context(), llmtest.Must(`text "Hi"`+"\n"), recorded.Ask())
	path := filepath.Join(t.TempDir(), "golden")
	recorded.Golden(t, path, got, true)
	recorded.Golden(t, path, got, false)
	want := `{"type":"text","text":"Hi"}` + "\n"
	if len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("the trace is %s", got)
	}
	if got := recorded.Indent(t, []byte(`{"a":1}`)); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("indented it is %q", got)
	}
}
