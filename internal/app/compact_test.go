package app

import (
	"strings"
	"testing"
)

// Who asks for a summary is told why there is none.
func TestNothingToSumUp(t *testing.T) {
	w := newWorkplace(t)
	w.script()
	w.open()
	w.ask("Mend the leak in the cellar.")
	for range 2 {
		_, problem, err := w.agent.Compact(t.Context(), "the leak")
		if err != nil || !strings.Contains(problem, "nothing to summarize") {
			t.Errorf("told %q, %v", problem, err)
		}
	}
}
