package trees_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
)

// failures records the failures of a test.
type failures []string

func (f *failures) Helper()                           {}
func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func TestTrees(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := trees.Of(t, dir)
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told failures
	trees.Same(&told, trees.Of(t, dir), trees.Of(t, dir))
	if len(told) > 0 {
		t.Error(told)
	}
	trees.Same(&told, trees.Of(t, dir), before)
	mode := before["b"][:len(before["b"])-len(` "b"`)]
	want := fmt.Sprintf("the trees differ:\na is missing\nb is %[1]s \"other\", want %[1]s \"b\"\nc is there: %[1]s \"a\"", mode)
	if len(told) != 1 || told[0] != want {
		t.Errorf("failures %q, want %q", told, want)
	}
}
