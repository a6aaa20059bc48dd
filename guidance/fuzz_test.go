package guidance

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a file says, what it imports is a bounded list of clean paths.
func FuzzImports(f *testing.F) {
	for _, text := range []string{"@a.md", "see (@./x/y.md), `@no.md`", "```\n@no.md\n```\n@~/z.md", "@/etc/passwd @@a.b @", "`` @a.md ` @b.md"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths := imports(text, filepath.FromSlash("/repo/docs"), filepath.FromSlash("/home"))
		if len(paths) > maxImports {
			t.Errorf("%d imports", len(paths))
		}
		for _, p := range paths {
			if p != filepath.Clean(p) || strings.ContainsRune(p, 0) {
				t.Errorf("path %q", p)
			}
		}
	})
}
