package search

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool/search/internal/lines"
	"github.com/tenon-agent/tenon/workspace"
)

// Once the result is full, grep reads on only to count, and not without end. What it counts does not depend on chance.
func TestGrepThatOnlyCountsStops(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d", i)), []byte("x\n12345678"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	p, _, err := lines.Compile("x", lines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		g := &grep{set: set{ws}, start: ".", pattern: p, limits: limits{matches: 2, text: 1000, count: 1000, beyond: 95}}
		if err := g.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "[2 of at least 13 matches in 13 files; narrow" // the third is the first that is not shown
		if text := g.result(); !strings.Contains(text, want) {
			t.Fatalf("%q does not have %q", text, want)
		}
	}
}
