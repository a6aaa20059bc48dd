package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// withFiles makes a session with something beside the store.
func withFiles(t *testing.T, a *App) session.SessionID {
	t.Helper()
	id, err := a.Store.Create(t.Context(), session.Created{Dir: "/work"})
	for _, dir := range a.Places(id) {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "some"), 0o700), os.WriteFile(filepath.Join(dir, "some", "file"), []byte("x"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// kept reports whether all that lies beside a session is there.
func kept(t *testing.T, a *App, id session.SessionID) bool {
	t.Helper()
	there := 0
	for _, dir := range a.Places(id) {
		_, err := os.Stat(filepath.Join(dir, "some", "file"))
		if err == nil {
			there++
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if there == 1 {
		t.Error("half of what lay beside the session is there")
	}
	return there > 0
}

func TestPurge(t *testing.T) {
	ctx, data := t.Context(), t.TempDir()
	a, err := Open(func(string) string { return data }, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
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
			if err != nil || p.Part != session.PartFiles || p.Fixed == (p.Advice != "") {
				t.Errorf("%+v (%v)", p, err)
			}
			said += string(p.Session) + " " + p.Text + "; " + p.Advice + "\n"
		}
		return said
	}
	lives, marked, whole, cut, foreign := withFiles(t, a), withFiles(t, a), withFiles(t, a), withFiles(t, a), withFiles(t, a)
	mark(marked) // by somebody who is about to purge it, or was killed before
	if said := check(true); said != "" {
		t.Errorf("all is well, and it says %s", said)
	}

	w, err := a.Store.Open(ctx, whole, session.Lease{Owner: "somebody"})
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
	if n := strings.Count(said, "\n"); n != 3 || !strings.Contains(said, string(cut)+" it was purged, and") ||
		!strings.Contains(said, string(foreign)+" what was kept beside it is there, and the session is not; put back the database") {
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
		t.Errorf("what was cut off is still there (%v)", err)
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
