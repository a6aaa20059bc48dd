package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// slot has the run that is on, one at a time.
type slot struct {
	running atomic.Pointer[run]

	mu      sync.Mutex
	idle    chan struct{} // closed when no run is on
	lastRun session.RunID
	closed  bool
}

func newSlot() *slot {
	s := &slot{idle: make(chan struct{})}
	close(s.idle)
	return s
}

// enter makes a run and puts it into the slot. begin gets the last run of the session.
func (s *slot) enter(ctx context.Context, begin func(session.RunID) (*run, error)) (*run, error) {
	s.await(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.running.Load() != nil:
		return nil, ErrBusy
	}
	r, err := begin(s.lastRun)
	if err != nil {
		return nil, err
	}
	s.running.Store(r)
	s.idle = make(chan struct{})
	return r, nil
}

// await waits for a run whose end is already in the journal: listeners may see it before the slot is free. It gives up after a second,
// because a hook at the end of the run may be the caller.
func (s *slot) await(ctx context.Context) {
	s.mu.Lock()
	r, idle := s.running.Load(), s.idle
	s.mu.Unlock()
	if r == nil || !r.ended.Load() {
		return
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// leave takes a run out of the slot.
func (s *slot) leave(r *run) {
	r.cancel(nil)
	r.a.feed.stampAs(session.Stamp{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running.Store(nil)
	if r.begun {
		s.lastRun = r.id
	}
	close(s.idle)
}

// abort cancels the run that is on, if it is the one that b names. It does not wait.
func (s *slot) abort(b session.Abort) {
	if r := s.running.Load(); r != nil && (b.Run == "" || b.Run == r.id) {
		r.cancel(errAborted)
	}
}

// close aborts the run that is on and lets no other in. The channel is closed when the run is over.
func (s *slot) close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.abort(session.Abort{})
	return s.idle
}
