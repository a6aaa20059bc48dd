package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/storetest"
)

// open opens the store at path, and closes it with the test.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) session.Store { return open(t, filepath.Join(t.TempDir(), "sessions.db")) })
}

func TestStoreIsShared(t *testing.T) {
	storetest.RunShared(t, func(t *testing.T) func() session.Store {
		path := filepath.Join(t.TempDir(), "new", "sessions.db")
		return func() session.Store { return open(t, path) }
	})
}
