package app

import (
	"strings"
	"testing"
)

// If Compact makes no summary, it says why.
func TestNothingToSumUp(t *testing.T) {
	w := newWorkplace(t)
	w.script()
	w.open()
	w.ask("Fix the leak in the cellar.")
	for range 2 {
		_, problem, err := w.agent.Compact(t.Context(), "the leak")
		if err != nil || !strings.Contains(problem, "nothing to summarize") {
			t.Errorf("problem %q, %v", problem, err)
		}
	}
}
