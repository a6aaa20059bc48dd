package sqlite

import (
	"context"
	"iter"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/tenon-agent/tenon/session"
)

// Watch implements [index.Store].
func (s *reader) Watch(ctx context.Context, id session.SessionID, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		bell, leave := s.watch.join(id)
		defer leave()
		after := max(after, 0)
		for {
			last, more := s.read(ctx, id, after, yield)
			if !more {
				return
			}
			after = last
			select {
			case <-bell:
			case <-ctx.Done(): // read says so
			}
		}
	}
}

// hub wakes watchers: at once after a write of this store, and by the bell after a write of another process.
type hub struct {
	dir string // where the bell hangs

	mu       sync.Mutex
	watchers map[chan struct{}]session.SessionID
	stop     func() // ends the goroutine that listens for the bell and waits for it; nil when there is none
}

func (h *hub) init(dir string) { h.dir, h.watchers = dir, map[chan struct{}]session.SessionID{} }

// join returns a channel that receives whenever the session may have changed.
func (h *hub) join(id session.SessionID) (bell <-chan struct{}, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan struct{}, 1)
	h.watchers[c] = id
	if h.stop == nil {
		h.stop = h.listen()
	}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, c)
		if len(h.watchers) == 0 {
			stop := h.stop
			h.stop = nil
			h.mu.Unlock() // the goroutine may need the lock
			stop()
			h.mu.Lock()
		}
	}
}

// wake wakes the watchers of a session, wakeAll those of all sessions.
func (h *hub) wake(id session.SessionID) { h.wakeIf(func(s session.SessionID) bool { return s == id }) }
func (h *hub) wakeAll()                  { h.wakeIf(func(session.SessionID) bool { return true }) }

func (h *hub) wakeIf(wanted func(session.SessionID) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c, id := range h.watchers {
		if wanted(id) {
			select {
			case c <- struct{}{}:
			default: // it has not looked since the last wake
			}
		}
	}
}

const (
	// lateLook is the time after the last ring when all watchers look again: a process that died between its change and the second ring
	// had rung before the change.
	lateLook = time.Second
	// slowLook is the interval at which watchers look without notifications.
	slowLook = 500 * time.Millisecond
)

// listen starts a goroutine that wakes all watchers when the bell rings, and returns a function that ends it.
func (h *hub) listen() (stop func()) {
	var rings <-chan fsnotify.Event // nil when the bell cannot be heard
	var lost <-chan error
	ears, err := h.ears()
	if err == nil {
		rings, lost = ears.Events, ears.Errors
	}
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		h.hear(end, rings, lost)
	}()
	return func() {
		close(end)
		<-done
		if err == nil {
			_ = ears.Close()
		}
	}
}

// ears watch the directory of the bell. It never has the database: some systems open the files of a watched directory, and to close a
// database drops SQLite's locks on it.
func (h *hub) ears() (*fsnotify.Watcher, error) {
	if err := makeDir(h.dir); err != nil {
		return nil, err
	}
	ears, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := ears.Add(h.dir); err != nil {
		_ = ears.Close()
		return nil, err
	}
	return ears, nil
}

func (h *hub) hear(end <-chan struct{}, rings <-chan fsnotify.Event, lost <-chan error) {
	late := time.NewTimer(lateLook)
	defer late.Stop()
	for {
		select {
		case ring := <-rings:
			if filepath.Base(ring.Name) == bellName {
				late.Reset(lateLook)
				h.wakeAll()
			}
		case <-lost: // more rings than could be counted, most likely
			late.Reset(lateLook)
			h.wakeAll()
		case <-late.C:
			if rings == nil {
				late.Reset(slowLook)
			}
			h.wakeAll()
		case <-end:
			return
		}
	}
}
