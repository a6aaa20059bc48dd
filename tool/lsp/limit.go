package lsp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Limit bounds the servers that run at once in several directories, such as the worktrees of sub-agents. If it is reached, a server that rests
// makes room for another one. It is safe for concurrent use.
type Limit struct {
	most    int
	resting time.Duration // without use, after which a server makes room for another one

	mu      sync.Mutex
	taken   int // by servers that run, start or end
	running []*server
}

// NewLimit returns a limit for the [Options] of several directories.
func NewLimit(most int) *Limit { return &Limit{most: most, resting: 30 * time.Second} }

// errFull is the error of a start beyond the limit. It does not count as a failure of the server.
var errFull = errors.New("too many language servers of this process work already")

// take waits for a server that makes room, if need be. The caller calls enter or leave.
func (l *Limit) take(ctx context.Context) error {
	if l == nil {
		return nil
	}
	for {
		l.mu.Lock()
		if l.taken < l.most {
			l.taken++
			l.mu.Unlock()
			return nil
		}
		var oldest *server
		since := time.Now().Add(-l.resting)
		for _, s := range l.running {
			if used := s.lastUse(); used.Before(since) {
				oldest, since = s, used
			}
		}
		l.mu.Unlock()
		if oldest == nil {
			return errFull
		}
		oldest.conn.fail(errStopped)
		select {
		case <-oldest.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enter notes that a server runs.
func (l *Limit) enter(s *server) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running = append(l.running, s)
	}
}

// leave notes that a server has ended, or, if it is nil, that a start failed.
func (l *Limit) leave(s *server) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.taken--
		l.running = slices.DeleteFunc(l.running, func(one *server) bool { return one == s })
	}
}
