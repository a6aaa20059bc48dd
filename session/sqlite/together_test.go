package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Several callers append, rename, fork, purge, index and compact at the same time, each with a store of its own. Each call succeeds or
// reports that another was faster. In the end the store is undamaged.
func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	all := &herd{ids: []session.SessionID{newSession(t, s), newSession(t, s)}}
	var wg sync.WaitGroup
	for n, act := range []func(*Store) error{
		func(s *Store) error { return appendTo(t, s, all.any()) },
		func(s *Store) error {
			_, err := s.Annotate(t.Context(), all.any(), session.Title{Title: "Another"}, session.Note{Text: "the mill"})
			return err
		},
		func(s *Store) error {
			id, err := s.Create(t.Context(), session.Created{From: session.Origin{Session: all.any()}, Fork: true})
			if err == nil {
				_, err = s.PutBlob(t.Context(), id, []byte("the same of all"))
				all.add(id)
			}
			return err
		},
		func(s *Store) error { return s.Purge(t.Context(), all.any()) },
		func(s *Store) error {
			return errors.Join(s.Delete(t.Context(), all.any()), s.Restore(t.Context(), all.any()))
		},
		func(s *Store) error { return s.Index(t.Context()) },
		func(s *Store) error { _, err := s.Compact(t.Context()); return err },
	} {
		own := open(t, path)
		wg.Go(func() {
			for range 40 {
				if err := act(own); err != nil && !faster(err) {
					t.Errorf("%d: %v", n, err)
				}
				all.add(newSession(t, own))
			}
		})
	}
	wg.Wait()
	sound(t, s)
	for _, trash := range []bool{false, true} {
		for sum, err := range s.List(t.Context(), index.Query{Deleted: trash}) {
			if err = errors.Join(err, s.Purge(t.Context(), sum.ID)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, table := range []string{"sessions", "entries", "spending", "blobs", "blob_uses"} {
		var left int
		if err := s.row(`SELECT count(*) FROM `+table, nil, &left); err != nil || left != 0 {
			t.Errorf("when all is purged, %d rows of %s are left (%v)", left, table, err)
		}
	}
}

// herd is sessions that several look after.
type herd struct {
	mu  sync.Mutex
	ids []session.SessionID
}

func (f *herd) any() session.SessionID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[max(0, len(f.ids)-1-rand.IntN(8))]
}

func (f *herd) add(id session.SessionID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = append(f.ids, id)
}

func appendTo(t *testing.T, s *Store, id session.SessionID) error {
	w, err := s.Open(t.Context(), id, session.Lease{Owner: "one of many", TakeOver: rand.IntN(2) == 0})
	for i := 0; err == nil && i < 5; i++ {
		_, err = w.Append(t.Context(), session.Stamp{}, user("the mill"), answer(fmt.Sprint("turns ", i)))
	}
	if w != nil {
		err = errors.Join(err, w.Close())
	}
	return err
}

// faster reports whether an error says that another was faster.
func faster(err error) bool {
	_, locked := errors.AsType[*session.LockedError](err)
	_, fenced := errors.AsType[*session.FencedError](err)
	return locked || fenced || errors.Is(err, session.ErrNotFound)
}
