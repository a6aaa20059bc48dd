//go:build unix

package workspace_test

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// The shown part of a hidden directory can be read and walked. The rest stays hidden, and no part can be written.
func TestShown(t *testing.T) {
	base := realDir(t)
	write(t, base, map[string]string{"project/spare": "", "config/keys.json": "secret", "config/skills/x/SKILL.md": "open"})
	w := openWith(t, filepath.Join(base, "project"), workspace.Options{
		Outside: workspace.AllOutside, Hidden: []string{filepath.Join(base, "config")}, Shown: []string{filepath.Join(base, "config/skills/x"), "missing"},
	})
	looks, changes := ways(w)
	shown, hidden := filepath.Join(base, "config/skills/x/SKILL.md"), filepath.Join(base, "config/keys.json")
	for way, f := range looks {
		if err := f(shown); err != nil && !(way == "Walk" && !errorIs[*workspace.HiddenError](err)) {
			t.Errorf("%s: %v", way, err)
		}
		if err := f(hidden); !errorIs[*workspace.HiddenError](err) {
			t.Errorf("%s of what is hidden: %v", way, err)
		}
	}
	for way, f := range changes {
		for _, name := range []string{shown, hidden} {
			if err := f(name); !errorIs[*workspace.HiddenError](err) {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
	}
	if got := walked(t, w, filepath.Dir(shown), workspace.WalkOptions{}); len(got) != 1 {
		t.Errorf("walked %v", got)
	}
}
