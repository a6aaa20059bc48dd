package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// raw runs statements on a database file behind the store's back.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, one := range statements {
		if _, err := db.Exec(one); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
}

// refused fails the test unless the file cannot be opened with this error, and is left as it was.
func refused(t *testing.T, path string, want error, says string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	if want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %q, want %v with %q and the path", err, want, says)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	at := func(t *testing.T) string { return filepath.Join(t.TempDir(), "sessions.db") }
	t.Run("garbage", func(t *testing.T) {
		path := at(t)
		if err := os.WriteFile(path, bytes.Repeat([]byte("garbage "), 2000), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, path, session.ErrCorrupt, "restore a backup")
	})
	t.Run("another program's", func(t *testing.T) {
		path := at(t)
		raw(t, path, "CREATE TABLE bookmarks (url TEXT)")
		refused(t, path, nil, "another program")
	})
	t.Run("newer", func(t *testing.T) {
		path := at(t)
		if err := errors.Join(open(t, path).Close()); err != nil {
			t.Fatal(err)
		}
		raw(t, path, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1))
		refused(t, path, session.ErrNewer, "update Tenon")
	})
	t.Run("a directory", func(t *testing.T) {
		if s, err := Open(t.TempDir()); err == nil {
			s.Close()
			t.Error("it was opened")
		}
	})
	t.Run("below a file", func(t *testing.T) {
		path := at(t)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(filepath.Join(path, "sessions.db"))
		if err == nil {
			s.Close()
			t.Fatal("it was opened")
		}
		if !errors.Is(err, session.ErrUnwritable) {
			t.Error(err)
		}
	})
}

// everything reads all there is of a session, every way.
func everything(ctx context.Context, s *Store, id session.SessionID) error {
	var errs []error
	for _, err := range s.List(ctx, index.Query{}) {
		errs = append(errs, err)
	}
	for _, err := range s.Read(ctx, id, 0) {
		errs = append(errs, err)
	}
	for _, err := range s.Backward(ctx, id, "") {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// filled makes a database with a session of some pages and closes it.
func filled(t *testing.T, path string) session.SessionID {
	t.Helper()
	s := open(t, path)
	w := writerFor(t, s)
	for i := range 400 {
		if _, err := w.Append(t.Context(), session.Stamp{}, answer(strings.Repeat(fmt.Sprint(i, " "), 100))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return w.Session()
}

// Whatever is wrong with the file, it is said to be damaged; nothing panics and no wrong entry is read.
func TestTruncated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	id := filled(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{info.Size() - 1, info.Size() - 4096, info.Size() / 2, 3 * 4096, 100, 50} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err == nil {
			err = errors.Join(everything(t.Context(), s, id), s.Close())
		}
		if !errors.Is(err, session.ErrCorrupt) {
			t.Errorf("cut to %d bytes of %d: %v", size, info.Size(), err)
		}
	}
}

func TestOverwrittenPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	id := filled(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 4096; at < len(whole); at += 5 * 4096 {
		if !sample.Takes(at/4096-1, 1, 3) {
			continue
		}
		bad := bytes.Clone(whole)
		copy(bad[at:], bytes.Repeat([]byte{0xa5}, 4096))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err == nil {
			err = errors.Join(everything(t.Context(), s, id), s.Close())
		}
		if err != nil && !errors.Is(err, session.ErrCorrupt) && !errors.Is(err, session.ErrNotFound) {
			t.Errorf("page at %d overwritten: %v", at, err)
		}
	}
}

func TestDamagedRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, says string }{
		"a body that is no JSON":     {`UPDATE entries SET body = '{' WHERE kind = 'message' AND place % 16 = 3`, "entry 3"},
		"a body of another shape":    {`UPDATE entries SET body = '{"role":1}' WHERE kind = 'message' AND place % 16 = 2`, "entry 2"},
		"an entry without a kind":    {`UPDATE entries SET kind = '' WHERE kind = 'created'`, "entry 1"},
		"an entry that is missing":   {`DELETE FROM entries WHERE place % 16 = 2`, "entry 2"},
		"the last entry is missing":  {`DELETE FROM entries WHERE place % 16 = 4`, "entry 4"},
		"all entries are missing":    {`DELETE FROM entries`, "entry 1"},
		"a number that is not there": {`UPDATE sessions SET seq = 9`, "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, path)
			w := writerFor(t, s)
			if _, err := w.Append(t.Context(), session.Stamp{}, user("a"), answer("b"), answer("c")); err != nil {
				t.Fatal(err)
			}
			raw(t, path, c.change)
			var err error
			for _, err = range s.Read(t.Context(), w.Session(), 0) {
				continue
			}
			if !errors.Is(err, session.ErrCorrupt) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), string(w.Session())) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
	t.Run("a blob of another hash", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "sessions.db")
		s := open(t, path)
		hash, err := s.PutBlob(t.Context(), newSession(t, s), []byte("data"))
		if err != nil {
			t.Fatal(err)
		}
		raw(t, path, `UPDATE blobs SET data = x'00'`)
		if _, err := s.Blob(t.Context(), hash); !errors.Is(err, session.ErrCorrupt) {
			t.Error(err)
		}
	})
	t.Run("a parent that is missing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "sessions.db")
		s := open(t, path)
		w := writerFor(t, s)
		if _, err := w.Append(t.Context(), session.Stamp{}, user("a"), answer("b")); err != nil {
			t.Fatal(err)
		}
		raw(t, path, `DELETE FROM entries WHERE place % 16 = 2`)
		var err error
		for _, err = range s.Backward(t.Context(), w.Session(), "") {
			continue
		}
		if !errors.Is(err, session.ErrCorrupt) {
			t.Errorf("backward ended with %v", err)
		}
	})
}

// A full disk stops an append whole, and all goes on once there is room.
func TestFull(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	w := writerFor(t, s)
	limit := func(pages int) {
		var now int
		if err := s.lane.row(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &now); err != nil {
			t.Fatal(err)
		}
	}
	limit(30)
	fillUp(t, s, w)
	limit(1 << 30)
	if _, err := w.Append(t.Context(), session.Stamp{}, user("there is room again")); err != nil {
		t.Error(err)
	}
}

// fillUp appends until there is no space left and checks that only whole appends were kept.
func fillUp(t *testing.T, s *Store, w session.Writer) {
	t.Helper()
	last := int64(0)
	for {
		events, err := w.Append(t.Context(), session.Stamp{}, answer("small"), answer(strings.Repeat("large", 2000)))
		if err != nil {
			if !errors.Is(err, session.ErrFull) || !strings.Contains(err.Error(), s.path) {
				t.Fatalf("after entry %d: %v", last, err)
			}
			break
		}
		last = events[1].Seq
	}
	n := int64(0)
	for e, err := range s.Read(t.Context(), w.Session(), 0) {
		if n++; err != nil || e.Seq != n {
			t.Fatalf("entry %d is %+v, %v", n, e, err)
		}
	}
	if n != last {
		t.Errorf("%d entries, want %d", n, last)
	}
}

// The index is not to blame for a journal that cannot be read, and stays.
func TestIndexOfADamagedJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path)
	s := open(t, path)
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := s.index.marks()
	if err != nil || len(before) == 0 {
		t.Fatalf("%d sessions are indexed (%v)", len(before), err)
	}
	w := writerFor(t, s)
	for range 50 {
		if _, err := w.Append(t.Context(), session.Stamp{}, user(strings.Repeat("words ", 2000))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[len(whole)-20*4096:], bytes.Repeat([]byte{0xa5}, 20*4096)) // of what is not indexed yet
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if err := s.Index(t.Context()); !errors.Is(err, session.ErrCorrupt) || !strings.Contains(err.Error(), path) ||
		strings.Contains(err.Error(), s.index.path) {
		t.Errorf("error %v, want one of the journal", err)
	}
	if after, err := s.index.marks(); err != nil || len(after) != len(before) {
		t.Errorf("%d sessions are indexed, want the %d from before (%v)", len(after), len(before), err)
	}
}

// Entries before and after a damaged entry can be read. Exports and forks reach as far as that.
func TestReadingUpToDamage(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id, err := s.Create(ctx, session.Created{Dir: "/work"})
	if err == nil {
		err = appendMany(ctx, s, id, 40)
	}
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, fmt.Sprintf(`UPDATE entries SET body = 'no JSON' WHERE place = (SELECT place FROM entries ORDER BY place LIMIT 1 OFFSET %d)`, 20-1))
	walk := func(name string, entries iter.Seq2[session.Event, error], last int64) {
		t.Helper()
		got := int64(0)
		for e, err := range entries {
			if err == nil {
				got = e.Seq
			} else if !errors.Is(err, session.ErrCorrupt) || !strings.Contains(err.Error(), "entry 20") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got != last {
			t.Errorf("%s: the last entry is %d, want %d", name, got, last)
		}
	}
	walk("forward", s.Read(ctx, id, 0), 19)
	walk("forward, of all kinds", s.Read(ctx, id, 0, session.Created{}.Kind(), session.Message{}.Kind(), session.Note{}.Kind()), 19)
	walk("from behind it", s.Read(ctx, id, 20), 41)
	walk("backward", s.Backward(ctx, id, ""), 21)
}
