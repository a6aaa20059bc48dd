package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// megabytes makes a session with an entry of so many megabytes, and indexes it.
func megabytes(t *testing.T, s *Store, n int) session.SessionID {
	t.Helper()
	w := writerFor(t, s)
	for i := range 16 * n {
		if _, err := w.Append(t.Context(), session.Stamp{}, user(fmt.Sprint(i, strings.Repeat(" the mill turns", 1<<12)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), s.Index(t.Context())); err != nil {
		t.Fatal(err)
	}
	return w.Session()
}

// Compact frees the space of purged sessions and leaves the others unchanged.
func TestCompact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	first, stays, last := megabytes(t, s, 2), megabytes(t, s, 1), megabytes(t, s, 2)
	want := everythingOf(t, s)
	for range 2 { // the first time the log is cut
		freed, err := s.Compact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Log(freed, "bytes were freed of nothing that was purged")
	}
	if got := everythingOf(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("it is now\n%v\nwant\n%v", got, want)
	}
	reader := open(t, path) // who reads and writes meanwhile
	other := writerOf(t, reader, stays)
	if err := errors.Join(s.Purge(t.Context(), first), s.Purge(t.Context(), last)); err != nil {
		t.Fatal(err)
	}
	size := s.onDisk()
	if freed, err := s.Compact(t.Context()); err != nil || freed < size/2 {
		t.Errorf("of %d bytes %d were freed (%v)", size, freed, err)
	}
	if _, err := other.Append(t.Context(), session.Stamp{}, user("more")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(other.Close(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	if err := everything(t.Context(), s, stays); err != nil {
		t.Error(err)
	}
	megabytes(t, s, 1) // it grows and shrinks again
	for sum, err := range s.List(t.Context(), index.Query{}) {
		if err = errors.Join(err, s.Purge(t.Context(), sum.ID)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Compact(t.Context()); err != nil || s.onDisk() > 1<<18 {
		t.Errorf("%d bytes are left of nothing (%v)", s.onDisk(), err)
	}
}

func writerOf(t *testing.T, s *Store, id session.SessionID) session.Writer {
	t.Helper()
	w, err := s.Open(t.Context(), id, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// A process that is killed while it makes the file smaller loses nothing, and the next one goes on.
func TestKilledWhileCompacting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	stays := megabytes(t, s, 1)
	for round := range 3 {
		if !sample.Takes(round, 1, 2) {
			continue
		}
		gone := megabytes(t, s, 4)
		lived(t, s)
		if err := s.Purge(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		killed(t, 1+round, "compact", path, "-")
		sound(t, s)
	}
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size := s.onDisk(); size > 4<<20 {
		t.Errorf("%d bytes are left", size)
	}
	if err := everything(t.Context(), s, stays); err != nil {
		t.Error(err)
	}
	sound(t, s)
}
