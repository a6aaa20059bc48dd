package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/session"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "sessions.db"), filepath.Join(dir, "backup.db")
	s := open(t, path)
	ids := conversations(t, s)
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), backup); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another backup: %v", err)
	}
	if err := s.Close(); err != nil { // its leases end
		t.Fatal(err)
	}
	want := ask(t.Context(), path, ids)
	s = open(t, path)
	w := writerFor(t, s)
	if _, err := Restore(t.Context(), path, backup); err == nil {
		t.Error("it was restored while another store held a lease")
	}
	if _, err := w.Append(t.Context(), session.Stamp{}, user("later")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func() error{
		"whole":   func() error { return nil },
		"cut":     func() error { return os.Truncate(path, 10000) },
		"removed": func() error { return os.Remove(path) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		aside, err := Restore(t.Context(), path, backup)
		if err != nil || (aside == "") != (what == "whole") {
			t.Fatalf("%s: put aside %q, %v", what, aside, err)
		}
		if got := ask(t.Context(), path, ids); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it is now %v", what, got.wrong(want))
		}
		again := open(t, path)
		for p, err := range again.Check(t.Context(), false) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Restore(t.Context(), path, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(backup, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), path, backup); !errors.Is(err, session.ErrCorrupt) {
		t.Error(err)
	}
}

// A caller that waits for the lock learns which process holds it, and continues when it is free.
func TestWaitersLearnWhoHoldsTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	holds, waits := open(t, path), open(t, path)
	w := writerFor(t, waits)
	told := make(chan *session.BusyError, 1)
	waits.OnWait(func(e *session.BusyError) { told <- e })
	done := make(chan error)
	err := holds.write(t.Context(), "hold", false, func(*txn) error {
		go func() {
			_, err := w.Append(t.Context(), session.Stamp{}, user("after"))
			done <- err
		}()
		e := <-told
		if e.PID != os.Getpid() || e.Command == "" || e.Store != waits.path || time.Since(e.Since) > time.Hour || e.Code() != "session.busy" {
			t.Errorf("it learned %+v", e)
		}
		return nil
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Error(err)
	}
}

// A store that is paused holds no lock, and goes on afterwards.
func TestPause(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	w := writerFor(t, s)
	resume, err := s.Pause(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := w.Append(t.Context(), session.Stamp{}, user("waits"))
		done <- err
	}()
	if _, err := open(t, path).Create(t.Context(), session.Created{}); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		t.Errorf("it was appended in the pause: %v", err)
	default:
	}
	resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
