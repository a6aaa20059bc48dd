package conversation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// withFiles makes a session with files.
func withFiles(t *testing.T, a *Data) session.SessionID {
	t.Helper()
	id, err := a.Store.Create(t.Context(), session.Created{Dir: "/work"})
	dir := filepath.Join(a.Contents(id), "some")
	err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// kept reports whether the files of a session are there.
func kept(t *testing.T, a *Data, id session.SessionID) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(a.Contents(id), "some", "file"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestPurge(t *testing.T) {
	ctx, data := t.Context(), t.TempDir()
	store, err := sqlite.Open(filepath.Join(data, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a := &Data{Store: store, Dir: data}
	mark := func(id session.SessionID) {
		t.Helper()
		dir := filepath.Join(data, purgingName)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, string(id)), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(repair bool) (said string) {
		t.Helper()
		for p, err := range a.Check(ctx, repair) {
			if err != nil || p.Part != index.PartFiles || p.Fixed == (p.Advice != "") {
				t.Errorf("%+v (%v)", p, err)
			}
			said += string(p.Session) + " " + p.Text + "; " + p.Advice + "\n"
		}
		return said
	}
	lives, marked, whole, cut, foreign := withFiles(t, a), withFiles(t, a), withFiles(t, a), withFiles(t, a), withFiles(t, a)
	mark(marked) // by a process that is about to purge it, or was killed before
	if said := check(true); said != "" {
		t.Errorf("a check of sound data says %s", said)
	}

	w, err := a.Store.Open(ctx, whole, session.Lease{Owner: "another process"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Purge(ctx, whole); err == nil || !kept(t, a, whole) {
		t.Errorf("a session that is written was purged (%v)", err)
	}
	if err := errors.Join(w.Close(), a.Purge(ctx, whole)); err != nil || kept(t, a, whole) {
		t.Errorf("after a purge its files are there (%v)", err)
	}

	mark(cut) // the process is killed between the two
	if err := errors.Join(a.Store.Purge(ctx, cut), a.Store.Purge(ctx, foreign)); err != nil {
		t.Fatal(err)
	}
	said := check(false)
	if n := strings.Count(said, "\n"); n != 2 || !strings.Contains(said, string(cut)+" the session was purged") ||
		!strings.Contains(said, string(foreign)+" the files of the session remain, and the session does not exist; restore the database") {
		t.Errorf("%d lines: %s", n, said)
	}
	if !kept(t, a, cut) {
		t.Error("it was removed without repair")
	}
	if said := check(true); !strings.Contains(said, string(cut)) || kept(t, a, cut) || !kept(t, a, foreign) {
		t.Errorf("repaired: %s", said)
	}

	again := withFiles(t, a)
	mark(again)
	if err := a.Store.Purge(ctx, again); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Compact(ctx); err != nil || kept(t, a, again) {
		t.Errorf("the rest of an interrupted purge is still there (%v)", err)
	}
	if !kept(t, a, lives) || !kept(t, a, marked) || !kept(t, a, foreign) {
		t.Error("files are gone that belong to no purge")
	}
	if err := a.Purge(ctx, marked); err != nil || kept(t, a, marked) {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(data, purgingName)); err != nil || len(left) != 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}
