package sqlite

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// The same as TestFull on a file system that is really full, where the test may mount one.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "sessions.db"))
	w := writerFor(t, s)
	fillUp(t, s, w)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), session.Stamp{}, user("there is room again")); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
