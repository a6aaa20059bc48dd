// Package memory keeps sessions in memory: a store for tests, and for runs that leave nothing behind.
//
// It does all that a store on disk does, leases, fencing and watching included, within one [Store] value. Bodies are encoded
// once when they are appended, so that it refuses what a store on disk would refuse. Readers get the values that were appended.
// It is also the example of a small store: a [session.Log], and an index that [index.Over] makes of it.
package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Store keeps sessions in memory. It is safe for concurrent use.
type Store struct{ index.Store }

// New returns an empty store.
func New() *Store {
	return &Store{index.Over(&log{sessions: map[session.SessionID]*journal{}, blobs: map[string]*blob{}})}
}

// log implements [session.Log].
type log struct {
	mu       sync.Mutex
	sessions map[session.SessionID]*journal
	blobs    map[string]*blob
	closed   bool
}

// blob is data that PutBlob kept, with the number of sessions that use it.
type blob struct {
	data []byte
	uses int
}

// find returns the journal of a session. The store must be locked.
func (s *log) find(ctx context.Context, id session.SessionID) (*journal, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	j, ok := s.sessions[id]
	if !ok {
		return nil, notFound("session " + string(id))
	}
	return j, nil
}

func (s *log) usable(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("session: use of a closed store: %w", fs.ErrClosed)
	}
	return ctx.Err()
}

func notFound(what string) error { return fmt.Errorf("%s: %w", what, session.ErrNotFound) }

// Create implements [session.Log].
func (s *log) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	if _, _, err := session.EncodeBody(c); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	j := newJournal(session.NewSessionID())
	c, err := s.inherit(j, c)
	if err != nil {
		return "", err
	}
	if _, err := j.append(session.Stamp{}, []session.Body{c}); err != nil {
		return "", err
	}
	s.begin(j)
	return j.id, nil
}

// inherit finds what a fork goes on from, and returns its Created with the entry's name.
func (s *log) inherit(j *journal, c session.Created) (session.Created, error) {
	if !c.Fork {
		return c, nil
	}
	parent := s.sessions[c.From.Session]
	if parent == nil {
		return c, notFound("fork: session " + string(c.From.Session))
	}
	if c.From.Entry == "" {
		c.From.Entry = parent.tip.ID
	}
	var err error
	if j.base, j.origin, err = parent.reach(c.From.Entry); err != nil {
		return c, fmt.Errorf("fork: %w", err)
	}
	return c, nil
}

// begin puts a new journal among the others.
func (s *log) begin(j *journal) {
	s.sessions[j.id] = j
	if j.origin != nil {
		j.origin.forks++
	}
}

// Open implements [session.Log].
func (s *log) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if j.writer != nil && !l.TakeOver {
		return nil, j.locked()
	}
	if j.deleted {
		return nil, fmt.Errorf("session %s: %w: it is in the trash; restore it first", id, session.ErrNotFound)
	}
	j.writer = &writer{store: s, id: id, owner: l.Owner, since: session.Now()}
	return j.writer, nil
}

// Annotate implements [session.Log].
func (s *log) Annotate(ctx context.Context, id session.SessionID, bodies ...session.Body) ([]session.Event, error) {
	if err := check(true, bodies); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(bodies) == 1 && bodies[0] == (session.Deleted{}) && j.writer != nil {
		return nil, j.locked()
	}
	return j.append(session.Stamp{}, bodies)
}

// check refuses what cannot be kept.
func check(annotation bool, bodies []session.Body) error {
	if err := session.Check(annotation, bodies...); err != nil {
		return err
	}
	for _, b := range bodies {
		if _, _, err := session.EncodeBody(b); err != nil {
			return err
		}
	}
	return nil
}

// Sessions implements [session.Log].
func (s *log) Sessions(ctx context.Context) iter.Seq2[session.Listing, error] {
	return func(yield func(session.Listing, error) bool) {
		all, err := s.listings(ctx)
		if err != nil {
			yield(session.Listing{}, err)
		}
		for _, l := range all {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (s *log) listings(ctx context.Context) (all []session.Listing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	for id, j := range s.sessions {
		l := session.Listing{ID: id}
		if j.writer != nil {
			l.Owner = j.writer.owner
		}
		all = append(all, l)
	}
	return all, nil
}

// PutBlob implements [session.Log].
func (s *log) PutBlob(ctx context.Context, id session.SessionID, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return "", err
	}
	if j.blobs[hash] {
		return hash, nil
	}
	j.blobs[hash] = true
	if s.blobs[hash] == nil {
		s.blobs[hash] = &blob{data: slices.Clone(data)}
	}
	s.blobs[hash].uses++
	return hash, nil
}

// Blob implements [session.Log].
func (s *log) Blob(ctx context.Context, hash string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	b, ok := s.blobs[hash]
	if !ok {
		return nil, notFound("blob " + hash)
	}
	return slices.Clone(b.data), nil
}

// Close implements [session.Log]. The entries are gone, and every Watch ends.
func (s *log) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, j := range s.sessions {
		j.wake()
	}
	s.sessions, s.blobs = nil, nil
	return nil
}
