package path

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInside(t *testing.T) {
	for _, test := range []struct {
		dir, name, rel string
		folds, ok      bool
	}{
		{"/a/b", "/a/b", ".", false, true},
		{"/a/b", "/a/b/c/d", "c/d", false, true},
		{"/a/b", "/a/bc", "", false, false},
		{"/a/b", "/a", "", false, false},
		{"/a/b", "/A/B/c", "", false, false},
		{"/a/b", "/A/B/C", "C", true, true},
		{"/a/ſ", "/a/S/f", "f", true, true}, // two and one byte
		{"/a/K", "/a/\u212a/f", "f", true, true},
		{"/", "/a", "a", false, true},
		{"/", "/", ".", false, true},
		{"", "/a", "", false, false},
	} {
		rel, ok := relative(filepath.FromSlash(test.dir), filepath.FromSlash(test.name), test.folds)
		if ok != test.ok || filepath.ToSlash(rel) != test.rel {
			t.Errorf("%s in %s, folding %v: %q, %v", test.name, test.dir, test.folds, rel, ok)
		}
	}
}

// Two names have one key if they differ in case only.
func TestKeysFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[a-dA-DäÄſsSKk\x{212a}]{0,3}`)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if same := strings.Map(fold, a) == strings.Map(fold, b); same != strings.EqualFold(a, b) {
			t.Fatalf("%q and %q have one key: %v", a, b, same)
		}
		dir := string(filepath.Separator) + a
		if _, ok := relative(dir, string(filepath.Separator)+b, true); a != "" && ok != strings.EqualFold(a, b) {
			t.Fatalf("%q is %q: %v", a, b, ok)
		}
	})
}
