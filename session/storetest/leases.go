package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

func testLease(t *testing.T, s index.Store) {
	before := session.Now()
	id := create(t, s)
	w, err := s.Open(t.Context(), id, session.Lease{Owner: "the first"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Open(t.Context(), id, session.Lease{Owner: "the second"})
	locked, ok := errors.AsType[*session.LockedError](err)
	if !ok || locked.Session != id || locked.Owner != "the first" || locked.Since.Before(before) || locked.Since.After(time.Now()) {
		t.Fatalf("the second got %v", err)
	}
	if _, ok := errors.AsType[*session.LockedError](s.Delete(t.Context(), id)); !ok {
		t.Fatal("a session was deleted under its writer")
	}
	if _, ok := errors.AsType[*session.LockedError](s.Purge(t.Context(), id)); !ok {
		t.Fatal("a session was purged under its writer")
	}
	if got := summary(t, s, id).Owner; got != "the first" {
		t.Errorf("the owner is %q", got)
	}
	openWriter(t, s, create(t, s)) // other sessions are free
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := summary(t, s, id).Owner; got != "" {
		t.Errorf("the owner of a free session is %q", got)
	}
	again := openWriter(t, s, id)
	add(t, again, user("hello"))

	// Of many who want it at once, one gets it.
	id = create(t, s)
	var wg sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		wg.Go(func() {
			_, err := s.Open(t.Context(), id, session.Lease{})
			results <- err
		})
	}
	wg.Wait()
	won := 0
	for range cap(results) {
		err := <-results
		if _, locked := errors.AsType[*session.LockedError](err); err == nil {
			won++
		} else if !locked {
			t.Errorf("an error of another kind: %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d got the lease", won)
	}
}

func testTakeOver(t *testing.T, s index.Store) {
	id := create(t, s)
	old, err := s.Open(t.Context(), id, session.Lease{Owner: "the old"})
	if err != nil {
		t.Fatal(err)
	}
	add(t, old, user("one"))
	taker, err := s.Open(t.Context(), id, session.Lease{Owner: "the new", TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	want := append(read(t, s, id), add(t, taker, user("two"))...)
	for range 2 {
		_, err = old.Append(t.Context(), session.Stamp{}, user("too late"))
		if fenced, ok := errors.AsType[*session.FencedError](err); !ok || fenced.Session != id || fenced.Owner != "the new" {
			t.Fatalf("the old writer got %v", err)
		}
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	want = append(want, add(t, taker, user("the old one's Close does not give the lease back"))...)
	if got := summary(t, s, id).Owner; got != "the new" {
		t.Errorf("the owner is %q", got)
	}
	same(t, "entries", read(t, s, id), want)

	// The same when the old one first writes after the new one left, and after the session is gone.
	stale, err := s.Open(t.Context(), id, session.Lease{TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	staler := taker
	last, err := s.Open(t.Context(), id, session.Lease{TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = stale.Append(t.Context(), session.Stamp{}, user("too late"))
	if _, ok := errors.AsType[*session.FencedError](err); !ok {
		t.Errorf("a writer whose taker left got %v", err)
	}
	if err := s.Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	_, err = staler.Append(t.Context(), session.Stamp{}, user("too late"))
	if _, ok := errors.AsType[*session.FencedError](err); !ok {
		t.Errorf("a writer whose session is gone got %v", err)
	}
}

func testWriterClose(t *testing.T, s index.Store) {
	id, w := start(t, s)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Append(t.Context(), session.Stamp{}, user("hello"))
	isErr(t, "append after Close", err, fs.ErrClosed)
	other := openWriter(t, s, id)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, other, user("a late Close of the old writer changes nothing"))
}

func testWatch(t *testing.T, s index.Store) {
	id, w := start(t, s)
	want := append(read(t, s, id), add(t, w, user("before"))...)
	events, end := follow(t, t.Context(), s, id, 0)
	tail, tailEnd := follow(t, t.Context(), s, id, 3)
	for i := range 20 {
		if i%2 == 0 {
			want = append(want, add(t, w, answer("on"), answer("and on"))...)
		} else {
			want = append(want, annotate(t, s, id, session.Note{Text: "by the way"})...)
		}
		add(t, openWriter(t, s, create(t, s)), user("of another session"))
	}
	for i, e := range want {
		same(t, "watch", []session.Event{next(t, events, end)}, []session.Event{e})
		if i >= 3 {
			same(t, "watch from the middle", []session.Event{next(t, tail, tailEnd)}, []session.Event{e})
		}
	}
	more := add(t, w, answer("when everybody has caught up"))
	same(t, "watch", []session.Event{next(t, events, end)}, more)
}

func testWatchConcurrent(t *testing.T, s index.Store) {
	const writers, each, watchers = 3, 40, 3
	id, w := start(t, s)
	type stream struct {
		events <-chan session.Event
		end    <-chan error
	}
	var streams []stream
	for range watchers {
		events, end := follow(t, t.Context(), s, id, 0)
		streams = append(streams, stream{events, end})
	}
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			for i := range each {
				var err error
				if n == 0 {
					_, err = s.Annotate(t.Context(), id, session.Note{Text: fmt.Sprint(i)})
				} else {
					_, err = w.Append(t.Context(), session.Stamp{}, answer(fmt.Sprint(n, i)), answer("and"))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, one := range streams {
		wg.Go(func() {
			for seq := int64(1); seq <= 1+each+2*each*(writers-1); seq++ {
				select {
				case e := <-one.events:
					if e.Seq != seq {
						t.Errorf("entry %d came when %d was due", e.Seq, seq)
						return
					}
				case err := <-one.end:
					t.Errorf("the watch ended: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	entries := read(t, s, id)
	tip := id
	for i, e := range entries {
		if e.Seq != int64(i+1) || i > 0 && e.OnBranch() && e.Parent != tip {
			t.Fatalf("entry %d does not fit: %+v", i+1, e)
		}
		if e.OnBranch() {
			tip = e.ID
		}
	}
}

func testWatchEnds(t *testing.T, s index.Store) {
	id := create(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	events, end := follow(t, ctx, s, id, 0)
	next(t, events, end)
	cancel()
	isErr(t, "its context ended", <-end, context.Canceled)

	events, end = follow(t, t.Context(), s, id, 0)
	next(t, events, end)
	if err := errors.Join(s.Delete(t.Context(), id), s.Restore(t.Context(), id)); err != nil {
		t.Fatal(err)
	}
	if first, second := next(t, events, end).Body, next(t, events, end).Body; first != (session.Deleted{}) || second != (session.Deleted{Restored: true}) {
		t.Fatalf("it saw %v and %v", first, second)
	}
	if err := s.Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	isErr(t, "its session is gone", <-end, session.ErrNotFound)

	events, end = follow(t, t.Context(), s, create(t, s), 0)
	next(t, events, end)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	isErr(t, "its store was closed", <-end, fs.ErrClosed)
}

func testClosed(t *testing.T, s index.Store) {
	id, w := start(t, s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Create(t.Context(), session.Created{})
	isErr(t, "create", err, fs.ErrClosed)
	_, err = s.Blob(t.Context(), "x")
	isErr(t, "blob", err, fs.ErrClosed)
	isErr(t, "read", failure(t, s.Read(t.Context(), id, 0)), fs.ErrClosed)
	isErr(t, "list", failure(t, s.List(t.Context(), index.Query{})), fs.ErrClosed)
}

func testConcurrent(t *testing.T, s index.Store) {
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			id, err := s.Create(t.Context(), session.Created{Dir: fmt.Sprint("/", n)})
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 15 {
				if err := churn(t.Context(), s, id, i); err != nil {
					t.Error(err)
					return
				}
			}
			if n%2 == 0 {
				if err := errors.Join(s.Delete(t.Context(), id), s.Purge(t.Context(), id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(all(t, s.List(t.Context(), index.Query{}))); got != 4 {
		t.Errorf("%d sessions are left", got)
	}
}

// churn does a bit of everything with one session.
func churn(ctx context.Context, s index.Store, id session.SessionID, i int) error {
	w, err := s.Open(ctx, id, session.Lease{Owner: "churn"})
	if err != nil {
		return err
	}
	_, err1 := w.Append(ctx, session.Stamp{}, answer("a"), answer("b"))
	_, err2 := s.Annotate(ctx, id, session.Note{Text: "n"})
	hash, err3 := s.PutBlob(ctx, id, []byte("the same for all"))
	_, err4 := s.Blob(ctx, hash)
	_, err5 := s.Spent(ctx, time.Time{})
	var err6 error
	for _, err := range s.Search(ctx, search.Request{Text: "a"}) {
		err6 = errors.Join(err6, err)
	}
	if err := errors.Join(err1, err2, err3, err4, err5, err6, w.Close()); err != nil {
		return err
	}
	n := int64(0)
	for e, err := range s.Read(ctx, id, 0) {
		if n++; err != nil || e.Seq != n {
			return fmt.Errorf("entry %d is number %d: %w", n, e.Seq, err)
		}
	}
	if want := int64(1 + 3*(i+1)); n != want {
		return fmt.Errorf("%d entries, want %d", n, want)
	}
	for _, err := range s.Backward(ctx, id, "") {
		if err != nil {
			return err
		}
	}
	for _, err := range s.List(ctx, index.Query{}) {
		if err != nil {
			return err
		}
	}
	return nil
}
