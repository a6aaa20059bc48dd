package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// spoil damages a file somewhere, in one of the ways in which disks and people do.
func spoil(r *rand.Rand, file []byte) (bad []byte, how string) {
	const page = 4096
	bad = bytes.Clone(file)
	at := r.IntN(len(bad))
	whole := bad[at/page*page : min(at/page*page+page, len(bad))]
	switch r.IntN(5) {
	case 0:
		return bad[:at], fmt.Sprint("cut at ", at)
	case 1:
		clear(whole)
		return bad, fmt.Sprint("zeroes in page ", at/page)
	case 2:
		other := r.IntN(len(bad)/page) * page
		copy(whole, file[other:])
		return bad, fmt.Sprintf("page %d in place of page %d", other/page, at/page)
	case 3:
		for i := range whole[:min(64, len(whole))] { // where a page says what is in it
			if r.IntN(8) == 0 {
				whole[i] = byte(r.Uint32())
			}
		}
		return bad, fmt.Sprint("the head of page ", at/page)
	}
	for range 1 + r.IntN(40) {
		bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
	}
	return bad, "bits here and there"
}

// use does everything with a store that can be done with it.
func use(ctx context.Context, path string, id session.SessionID) error {
	s, err := OpenToRead(path)
	if err != nil {
		return err
	}
	errs := []error{everything(ctx, s, id)}
	check := func(repair, again bool) {
		for p, err := range s.Check(ctx, repair) {
			errs = append(errs, err)
			if again && err == nil && !p.Lost && p.Advice != adviceTry {
				errs = append(errs, fmt.Errorf("after it was repaired there is %+v", p))
			}
		}
	}
	for _, err := range s.Search(ctx, search.Request{Text: "mill 1*"}) {
		errs = append(errs, err)
	}
	for _, err := range s.Usage(ctx, index.UsageQuery{By: []index.Group{index.GroupTool, index.GroupAnswer}}) {
		errs = append(errs, err)
	}
	for _, err := range s.Read(ctx, id, 0, session.Note{}.Kind()) {
		errs = append(errs, err)
	}
	check(false, false)
	check(true, false)
	check(false, true)
	w, err := s.Open(ctx, id, session.Lease{})
	if errs = append(errs, err); err == nil {
		_, err1 := w.Append(ctx, session.Stamp{}, user("on"), session.Title{Title: "Spoiled"})
		errs = append(errs, err1, w.Close())
	}
	_, err1 := s.Create(ctx, session.Created{From: session.Origin{Session: id}, Fork: true})
	_, err2 := s.PutBlob(ctx, id, []byte("data"))
	_, err3 := s.Compact(ctx)
	return errors.Join(append(errs, err1, err2, err3, s.Delete(ctx, id), s.Restore(ctx, id), s.Purge(ctx, id), s.Close())...)
}

// explains reports whether an error says what is wrong with a file.
func explains(err error) bool {
	for _, known := range []error{session.ErrCorrupt, session.ErrNotFound, session.ErrNewer} {
		if errors.Is(err, known) {
			return true
		}
	}
	return strings.Contains(err.Error(), "the SQLite database of another program")
}

// For every content of a file, its user gets an answer or an error that says what is wrong. No call panics or runs forever.
func TestGarbage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	id := filled(t, path)
	s := open(t, path)
	lived(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names := []string{path, s.index.path}
	whole := make([][]byte, len(names))
	for i, name := range names {
		var err error
		if whole[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 40 {
		if !sample.Takes(round, 2, 8) {
			continue
		}
		r := rand.New(rand.NewPCG(7, uint64(round)))
		dir := t.TempDir()
		which, how := r.IntN(4)/3, ""
		for i, name := range names {
			data := whole[i]
			if i == which {
				data, how = spoil(r, data)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := use(ctx, filepath.Join(dir, filepath.Base(path)), id)
		cancel()
		t.Logf("%d, %s, %s: %v", round, filepath.Base(names[which]), how, err)
		if err == nil {
			continue
		}
		list := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok && !errors.Is(err, session.ErrNewer) {
			list = joined.Unwrap()
		}
		for _, err := range list {
			if !explains(err) {
				t.Errorf("%d, %s, %s: %v", round, filepath.Base(names[which]), how, err)
			}
		}
	}
}

// A parent that comes later would lead round in a circle.
func TestBranchInACircle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	w := writerFor(t, s)
	events, err := w.Append(t.Context(), session.Stamp{}, user("a"), answer("b"), answer("c"))
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, fmt.Sprintf("UPDATE entries SET parent = '%s' WHERE id = '%s'", events[2].ID, events[0].ID))
	n := 0
	for _, err = range s.Backward(t.Context(), w.Session(), "") {
		if n++; n > 10 {
			t.Fatal("it does not end")
		}
	}
	if !errors.Is(err, session.ErrCorrupt) {
		t.Error(err)
	}
	if found := problems(t, s, true); len(found) != 1 || !found[0].Fixed {
		t.Errorf("found %+v", found)
	}
	if err := everything(t.Context(), s, w.Session()); err != nil {
		t.Error(err)
	}
}
