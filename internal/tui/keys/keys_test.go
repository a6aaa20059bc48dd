package keys_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// Two actions that hold at the same time do not share a key, except where a comment in the help says so.
func TestKeysAreUnique(t *testing.T) {
	shared := []string{"up", "down"} // editor.history and the cursor
	for _, group := range []string{"", "editor.", "list.", "dialog."} {
		seen := map[string]keys.Action{}
		for _, b := range keys.Defaults() {
			prefix, _, dotted := strings.Cut(string(b.Action), ".")
			if dotted && prefix+"." != group || !dotted && group == "dialog." {
				continue
			}
			for _, key := range b.Keys {
				if other, ok := seen[key]; ok && !slices.Contains(shared, key) {
					t.Errorf("%s is %s and %s", key, other, b.Action)
				}
				seen[key] = b.Action
			}
		}
	}
}

func TestAPersonBindsKeys(t *testing.T) {
	m, err := keys.New(map[string]string{"palette": "ctrl+k, f2", "quit": "none"})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Is(keys.Palette, "f2") || m.Is(keys.Palette, "ctrl+p") || m.Key(keys.Palette) != "ctrl+k" || m.Key(keys.Quit) != "" || !m.Is(keys.Submit, "enter") {
		t.Errorf("%+v", m.Bindings())
	}
	if _, err := keys.New(map[string]string{"pallete": "f2"}); err == nil || !strings.Contains(err.Error(), "palette") {
		t.Error(err)
	}
}
