package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// RunShared runs the tests for stores that outlive their process, or that several processes use. Each call of open names a new, empty
// storage; each call of reopen returns another store of it, as a further process would open it. The suite closes the stores.
func RunShared(t *testing.T, open func(t *testing.T) (reopen func() index.Store)) {
	for _, part := range []struct {
		name string
		test func(t *testing.T, reopen func() index.Store)
	}{
		{"entries are there after reopening", testPersistence},
		{"leases hold among stores", testSharedLease},
		{"a lease ends with its store", testSharedLeaseEnds},
		{"watch follows other stores", testSharedWatch},
		{"annotations of many stores leave no gap", testSharedAnnotate},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			reopen := open(t)
			part.test(t, func() index.Store {
				s := reopen()
				t.Cleanup(func() { _ = s.Close() })
				return s
			})
		})
	}
}

func testPersistence(t *testing.T, reopen func() index.Store) {
	s := reopen()
	id, w := start(t, s)
	add(t, w, user("hello"), priced("p/a", llm.Usage{Input: 3}), session.Title{Title: "t"},
		session.Opaque{Name: "later", JSON: []byte(`{ }`)})
	hash, err := s.PutBlob(t.Context(), id, []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, s, id)
	if err := errors.Join(w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}

	s = reopen()
	same(t, "entries", read(t, s, id), want)
	if got := summary(t, s, id); got.Title != "t" || got.Entries != 5 || got.Usage.Input != 3 {
		t.Errorf("the summary is %+v", got)
	}
	if data, err := s.Blob(t.Context(), hash); err != nil || string(data) != "data" {
		t.Errorf("the blob is %q, %v", data, err)
	}
	next := add(t, openWriter(t, s, id), user("on"))[0]
	if next.Seq != 6 || next.Parent != want[4].ID {
		t.Errorf("the next entry is %+v", next)
	}
}

func testSharedLease(t *testing.T, reopen func() index.Store) {
	here, there := reopen(), reopen()
	id, w := start(t, here)
	_, err := there.Open(t.Context(), id, session.Lease{Owner: "there"})
	if locked, ok := errors.AsType[*session.LockedError](err); !ok || locked.Owner != t.Name() {
		t.Fatalf("there the session opened with %v", err)
	}
	if _, ok := errors.AsType[*session.LockedError](there.Delete(t.Context(), id)); !ok {
		t.Error("there the session could be deleted")
	}
	if got := summary(t, there, id).Owner; got != t.Name() {
		t.Errorf("there the owner is %q", got)
	}
	taker, err := there.Open(t.Context(), id, session.Lease{Owner: "there", TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	add(t, taker, user("mine"))
	_, err = w.Append(t.Context(), session.Stamp{}, user("too late"))
	if fenced, ok := errors.AsType[*session.FencedError](err); !ok || fenced.Owner != "there" {
		t.Errorf("the fenced writer got %v", err)
	}
	if err := taker.Close(); err != nil {
		t.Fatal(err)
	}
	openWriter(t, here, id)
}

func testSharedLeaseEnds(t *testing.T, reopen func() index.Store) {
	here, there := reopen(), reopen()
	id, w := start(t, here)
	add(t, w, user("hello"))
	if err := here.Close(); err != nil { // without the writer's Close
		t.Fatal(err)
	}
	if got := summary(t, there, id).Owner; got != "" {
		t.Errorf("the owner is %q", got)
	}
	add(t, openWriter(t, there, id), user("on"))
}

func testSharedWatch(t *testing.T, reopen func() index.Store) {
	here, there := reopen(), reopen()
	id, w := start(t, here)
	events, end := follow(t, t.Context(), there, id, 0)
	want := read(t, here, id)
	for i := range 30 {
		same(t, "watch", []session.Event{next(t, events, end)}, want[i:]) // so it waits every time
		want = append(want, add(t, w, answer("on"))...)
	}
	next(t, events, end)
	if err := errors.Join(w.Close(), here.Purge(t.Context(), id)); err != nil {
		t.Fatal(err)
	}
	isErr(t, "purged there", <-end, session.ErrNotFound)
}

func testSharedAnnotate(t *testing.T, reopen func() index.Store) {
	const stores, each = 4, 25
	first := reopen()
	id, w := start(t, first)
	var wg sync.WaitGroup
	for range stores {
		s := reopen()
		wg.Go(func() {
			for range each {
				if _, err := s.Annotate(t.Context(), id, session.Note{Text: "n"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range each {
		add(t, w, answer("a"))
	}
	wg.Wait()
	entries := read(t, first, id)
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d is number %d", i+1, e.Seq)
		}
	}
	if len(entries) != 1+(stores+1)*each {
		t.Errorf("%d entries", len(entries))
	}
}
