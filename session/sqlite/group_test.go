package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// together runs jobs that are all queued before the first of them begins.
func together(t *testing.T, s *Store, jobs ...func()) {
	t.Helper()
	<-s.lane.turn
	var wg sync.WaitGroup
	for i, j := range jobs {
		wg.Go(j)
		for {
			s.group.mu.Lock()
			n := len(s.group.jobs)
			s.group.mu.Unlock()
			if n == i+1 {
				break
			}
			runtime.Gosched()
		}
	}
	s.lane.turn <- struct{}{}
	wg.Wait()
}

// Appends that wait together share a transaction, and each has its own outcome.
func TestAppendsShareATransaction(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	good, fenced, other := writerFor(t, s), writerFor(t, s), writerFor(t, s)
	if _, err := s.Open(t.Context(), fenced.Session(), session.Lease{Owner: "new", TakeOver: true}); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 5)
	appends := func(i int, w session.Writer, at session.Stamp, b ...session.Body) func() {
		return func() { _, errs[i] = w.Append(t.Context(), at, b...) }
	}
	syncs := s.disk.begun + s.lane.synced
	together(t, s,
		appends(0, good, session.Stamp{}, user("one"), session.RunEnded{}),
		appends(1, fenced, session.Stamp{}, user("lost"), session.RunEnded{}),
		appends(2, other, session.Stamp{Expect: 7}, user("stale")),
		appends(3, other, session.Stamp{}, user("two"), session.RunEnded{}),
		appends(4, good, session.Stamp{}, user("three"), session.Head{To: "nowhere"}),
	)
	_, isFenced := errors.AsType[*session.FencedError](errs[1])
	stale, isStale := errors.AsType[*session.StaleError](errs[2])
	if errs[0] != nil || !isFenced || !isStale || stale.Newest != 1 || errs[3] != nil || !errors.Is(errs[4], session.ErrNotFound) {
		t.Errorf("errors %v", errs)
	}
	if n := s.disk.begun + s.lane.synced - syncs; n < 1 || n > 2 {
		t.Errorf("%d syncs", n)
	}
	for w, want := range map[session.Writer]int{good: 3, fenced: 1, other: 3} {
		n := 0
		for _, err := range s.Read(t.Context(), w.Session(), 0) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != want {
			t.Errorf("%d entries, want %d", n, want)
		}
	}
}

// A caller that leaves before its turn leaves no entry.
func TestACancelledAppendIsNotKept(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	w := writerFor(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	<-s.lane.turn
	done := make(chan error)
	go func() {
		_, err := w.Append(ctx, session.Stamp{}, user("never"))
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.lane.turn <- struct{}{}
	events, err := w.Append(t.Context(), session.Stamp{}, user("one"))
	if err != nil || events[0].Seq != 2 {
		t.Errorf("%v, %v", events, err)
	}
}

// An append that SQLite refuses fails alone.
func TestAFailureIsNotShared(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	w := writerFor(t, s)
	err := s.write(t.Context(), "test", false, func(t *txn) error {
		return t.exec(`CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN NEW.run = 'bad' BEGIN SELECT RAISE(ROLLBACK, 'refused'); END`)
	})
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 4)
	var jobs []func()
	for i := range errs {
		run := session.RunID("good")
		if i == 1 {
			run = "bad"
		}
		jobs = append(jobs, func() { _, errs[i] = w.Append(t.Context(), session.Stamp{Run: run}, user(fmt.Sprint(i))) })
	}
	together(t, s, jobs...)
	for i, err := range errs {
		if (err == nil) != (i != 1) {
			t.Errorf("append %d: %v", i, err)
		}
	}
	var seqs []int64
	for e, err := range s.Read(t.Context(), w.Session(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, e.Seq)
	}
	if len(seqs) != 4 {
		t.Errorf("entries %v", seqs)
	}
}
