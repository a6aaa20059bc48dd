package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// listening is a hub that hears what the test says, with one watcher.
func listening(t *testing.T, rings chan fsnotify.Event, lost chan error) <-chan struct{} {
	var h hub
	h.init("nowhere")
	woken := make(chan struct{}, 1)
	h.watchers[woken] = "session"
	end, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); h.hear(end, rings, lost) }()
	t.Cleanup(func() { close(end); <-done })
	return woken
}

// after fails the test unless the watcher is woken at exactly this time from now.
func after(t *testing.T, woken <-chan struct{}, want time.Duration) {
	t.Helper()
	start := time.Now()
	<-woken
	if got := time.Since(start); got != want {
		t.Errorf("woken after %v, want %v", got, want)
	}
}

func TestBell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rings, lost := make(chan fsnotify.Event), make(chan error)
		woken := listening(t, rings, lost)
		after(t, woken, lateLook) // for what happened just before we listened
		for range 3 {
			rings <- fsnotify.Event{Name: filepath.Join("nowhere", bellName)}
			after(t, woken, 0)
		}
		after(t, woken, lateLook) // the process that rang may have died before the second ring
		lost <- fsnotify.ErrEventOverflow
		after(t, woken, 0)
		after(t, woken, lateLook)
		rings <- fsnotify.Event{Name: filepath.Join("nowhere", "another.lock")}
		time.Sleep(time.Hour)
		select {
		case <-woken:
			t.Error("woken when nothing moved")
		default:
		}
	})
}

func TestWithoutABellWatchersLookNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		woken := listening(t, nil, nil)
		after(t, woken, lateLook)
		for range 3 {
			after(t, woken, slowLook)
		}
	})
}

// If no bell can be heard, watching still works.
func TestWatchWithoutABell(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	here := open(t, path)
	id := newSession(t, here)
	there := open(t, path)
	there.watch.dir = filepath.Join(path, "below a file")
	for e, err := range there.Watch(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 2 {
			break
		}
		if _, err := here.Annotate(t.Context(), id, session.Note{}); err != nil {
			t.Fatal(err)
		}
	}
}

// A write that waits for another process ends with its context.
func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id := newSession(t, s)
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.Annotate(ctx, id, session.Note{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the write ended with %v", err)
	}
	for _, err := range s.Read(t.Context(), id, 0) { // readers need not wait
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Annotate(t.Context(), id, session.Note{}); err != nil {
		t.Error(err)
	}
}

func TestWhatMustBeOnTheDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body session.Body
		want bool
	}{
		{user("x"), false},
		{answer("x"), false},
		{session.Message{Message: llm.Message{Role: llm.RoleTool}}, false},
		{session.CallStarted{}, true},
		{session.CallStarted{Again: true}, false},
		{session.RunEnded{}, true},
		{session.Note{}, false},
	} {
		if got := mustSync([]session.Body{session.Note{}, c.body}); got != c.want {
			t.Errorf("%#v: %v", c.body, got)
		}
	}
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	w := writerFor(t, s)
	before := s.disk.ended + s.lane.synced
	for _, c := range []struct {
		body  session.Body
		syncs int64
	}{{session.Todo{}, 0}, {session.CallStarted{Arguments: []byte(`{}`)}, 1}, {session.Todo{}, 1}, {session.RunEnded{}, 2}} {
		if _, err := w.Append(t.Context(), session.Stamp{}, c.body); err != nil {
			t.Fatal(err)
		}
		if got := s.disk.ended + s.lane.synced - before; got != c.syncs {
			t.Errorf("%d syncs after %s, want %d", got, c.body.Kind(), c.syncs)
		}
	}
}

func TestTokensAreNoPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var o owner
	o.init(filepath.Join(dir, "owners"))
	if err := os.WriteFile(filepath.Join(dir, "x"+lockSuffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", "../x", `..\x`, ".", "gone"} {
		if o.lives(token) {
			t.Errorf("%q lives", token)
		}
	}
}
