//go:build unix

package sqlite

import (
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// limitFiles limits the size of the files that this process writes.
func limitFiles(size uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size})
}

// A file of shared memory that cannot grow is no proof of a full disk, and the journal can still be read.
func TestSharedMemoryThatCannotGrow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id, _ := lived(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := role(t.Context(), "limited", path, string(id)).Output()
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) < 3 || !strings.HasPrefix(lines[0], "true false") || !strings.Contains(lines[0], path) {
		t.Fatalf("%v: %q", err, out)
	}
	if lines[1] != "looked: <nil>" || !strings.HasPrefix(lines[2], "created: ") || strings.Contains(lines[2], "<nil>") {
		t.Errorf("%q", out)
	}
}
