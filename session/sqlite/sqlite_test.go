package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
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
	t.Parallel()
	storetest.Run(t, func(t *testing.T) index.Store { return open(t, filepath.Join(t.TempDir(), "sessions.db")) })
}

func TestStoreIsShared(t *testing.T) {
	t.Parallel()
	storetest.RunShared(t, func(t *testing.T) func() index.Store {
		path := filepath.Join(t.TempDir(), "new", "sessions.db")
		return func() index.Store { return open(t, path) }
	})
}

// A store that is used for one thing at a time has one connection, and what reads does not wait for what writes.
func TestReadersAreForWhenThereIsAWriter(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	w := writerFor(t, s)
	if _, err := w.Append(t.Context(), session.Stamp{}, user("one")); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		for _, err := range s.Read(t.Context(), w.Session(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if n := count(); n != 2 || s.readers.Stats().OpenConnections != 0 {
		t.Errorf("%d entries with %d readers", n, s.readers.Stats().OpenConnections)
	}
	err := s.write(t.Context(), "test", false, func(t *txn) error {
		if err := t.exec(`DELETE FROM entries`); err != nil {
			return err
		}
		if n := count(); n != 2 || s.readers.Stats().OpenConnections == 0 {
			return fmt.Errorf("%d entries with %d readers during a write", n, s.readers.Stats().OpenConnections)
		}
		return errors.New("undo it")
	})
	if err == nil || err.Error() != "undo it" {
		t.Error(err)
	}
	if n := count(); n != 2 {
		t.Errorf("%d entries in the end", n)
	}
}
