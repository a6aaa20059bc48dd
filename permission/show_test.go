package permission

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

// A shown path in a hidden directory can be read in every mode. Its siblings stay hidden, and nothing there can be written.
func TestShow(t *testing.T) {
	root, hidden := t.TempDir(), t.TempDir()
	outputs := filepath.Join(hidden, "outputs", "s1")
	if err := os.MkdirAll(outputs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []Mode{Inspect, AskMode, Edits, Auto} {
		p, err := New(Options{Root: root, Hidden: []string{hidden}, Mode: mode, Sandboxed: true})
		if err != nil {
			t.Fatal(err)
		}
		shows := p.Show(outputs)
		for _, c := range []struct {
			name   string
			policy *Policy
			path   string
			write  bool
			allow  bool
		}{
			{"shown", shows, filepath.Join(outputs, "a"), false, true},
			{"shown, written", shows, filepath.Join(outputs, "a"), true, false},
			{"its sibling", shows, filepath.Join(hidden, "outputs", "s2", "a"), false, false},
			{"its parent", shows, filepath.Join(hidden, "outputs"), false, false},
			{"a name that begins like it", shows, outputs + "x", false, false},
			{"the policy without it", p, filepath.Join(outputs, "a"), false, false},
		} {
			effects := tool.Effects{Reads: []tool.Path{tool.File(c.path)}}
			if c.write {
				effects = tool.Effects{Writes: []tool.Path{tool.File(c.path)}}
			}
			if got := c.policy.Judge(Call{Tool: "x", Effects: effects}).Action; (got == Allow) != c.allow {
				t.Errorf("mode %s, %s: %s", mode, c.name, got)
			}
		}
	}
}
