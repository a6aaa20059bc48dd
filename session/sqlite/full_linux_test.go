package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// The same as TestFull on a file system that is really full, where the test may mount one.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := mounted(t, "1m")
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

// On a full disk, Compact frees the space of purged sessions or reports that it cannot.
func TestCompactOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := mounted(t, "24m")
	path := filepath.Join(dir, "sessions.db")
	s := open(t, path)
	gone, stays := megabytes(t, s, 4), megabytes(t, s, 1)
	if err := s.Purge(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	_, err := s.Compact(t.Context())
	if err != nil && !errors.Is(err, session.ErrFull) {
		t.Error(err)
	}
	sound(t, s)
	if err := errors.Join(everything(t.Context(), s, stays), os.Remove(ballast)); err != nil {
		t.Error(err)
	}
	if _, err := s.Compact(t.Context()); err != nil || s.onDisk() > 5<<20 {
		t.Errorf("%d bytes are left (%v)", s.onDisk(), err)
	}
	sound(t, s)
}
