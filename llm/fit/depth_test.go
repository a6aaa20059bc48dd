package fit

import (
	"encoding/json"
	"strings"
	"testing"
)

// Arguments that are nested too deep for a request become a text.
func TestDeepArguments(t *testing.T) {
	deep := func(n int) string {
		return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	brackets := `{"a":"` + strings.Repeat(`[\"{`, 9000) + `"}`
	for _, s := range []string{deep(maxDepth), brackets} {
		if got := Arguments(s); got != s {
			t.Errorf("got %.60s for %.60s", got, s)
		}
	}
	got := Arguments(deep(maxDepth + 1))
	if !strings.HasPrefix(got, `{"malformed_arguments":`) || !json.Valid([]byte(got)) {
		t.Errorf("got %.60s", got)
	}
}
