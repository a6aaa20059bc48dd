package memory

import (
	"context"

	"github.com/tenon-agent/tenon/session"
)

// Delete implements [session.Store].
func (s *Store) Delete(ctx context.Context, id session.SessionID) error {
	return s.trash(ctx, id, session.Deleted{})
}

// Restore implements [session.Store].
func (s *Store) Restore(ctx context.Context, id session.SessionID) error {
	return s.trash(ctx, id, session.Deleted{Restored: true})
}

// trash moves a session to the trash or brings it back, unless it is there.
func (s *Store) trash(ctx context.Context, id session.SessionID, b session.Deleted) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	switch {
	case err != nil:
		return err
	case j.writer != nil && !b.Restored:
		return j.locked()
	case j.summary.Deleted.IsZero() == b.Restored:
		return nil
	}
	_, err = j.append(session.Stamp{}, []session.Body{b})
	return err
}

// Purge implements [session.Store].
func (s *Store) Purge(ctx context.Context, id session.SessionID) error {
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
func (s *Store) dropBlobs(j *journal) {
	for hash := range j.blobs {
		b := s.blobs[hash]
		if b.uses--; b.uses == 0 {
			delete(s.blobs, hash)
		}
	}
}
