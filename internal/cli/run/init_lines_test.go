package run

import (
	"os"
	"path/filepath"
	"testing"
)

// A project may have a link in place of its AGENTS.md, which leads to what has no end.
func TestLinesOf(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(file, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := linesOf(file); n != 2 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
	if _, err := linesOf(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("error = %v", err)
	}
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if _, err := linesOf(link); err == nil {
		t.Error("a device is read")
	}
}
