package rules

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Examples show how little a program needs. All lines count.
func TestExamplesAreShort(t *testing.T) {
	for dir, most := range map[string]int{"custom": 60, "judge": 80, "sse": 90, "subagent": 50, "todo": 60, "ask": 60} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", dir, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > most {
			t.Errorf("examples/%s has %d lines, more than %d", dir, n, most)
		}
	}
}
