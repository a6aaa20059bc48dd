package memory

import (
	"context"

	"github.com/tenon-agent/tenon/session"
)

// Purge implements [session.Log].
func (s *log) Purge(ctx context.Context, id session.SessionID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	if j.writer != nil {
		return j.locked()
	}
	delete(s.sessions, id)
	j.purged = true
	for ; j != nil && j.purged && j.forks == 0; j = j.origin {
		s.dropBlobs(j)
		if j.origin != nil {
			j.origin.forks--
		}
		j.wake()
	}
	if j != nil {
		j.wake()
	}
	return nil
}

// dropBlobs lets go of what a session kept.
func (s *log) dropBlobs(j *journal) {
	for hash := range j.blobs {
		b := s.blobs[hash]
		if b.uses--; b.uses == 0 {
			delete(s.blobs, hash)
		}
	}
}
