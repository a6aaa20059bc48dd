// Package memory keeps sessions in memory: a [session.Store] for tests, and for runs that nobody wants to keep.
//
// It does all that a store on disk does, leases, fencing and watching included, within one [Store] value; what it keeps
// ends with it. Bodies are encoded once when they are appended, so that what a store on disk would refuse is refused here
// too; what is read back is the value that was appended.
package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// Store is a [session.Store] in memory. It is safe for concurrent use.
type Store struct {
	mu       sync.Mutex
	sessions map[session.SessionID]*journal
	blobs    map[string]*blob
	closed   bool
}

// blob is what PutBlob kept, with the number of sessions that use it.
type blob struct {
	data []byte
	uses int
}

var _ session.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{sessions: map[session.SessionID]*journal{}, blobs: map[string]*blob{}}
}

// find returns the journal of a session. The store must be locked.
func (s *Store) find(ctx context.Context, id session.SessionID) (*journal, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	j, ok := s.sessions[id]
	if !ok {
		return nil, notFound("session " + string(id))
	}
	return j, nil
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("session: use of a closed store: %w", fs.ErrClosed)
	}
	return ctx.Err()
}

func notFound(what string) error { return fmt.Errorf("%s: %w", what, session.ErrNotFound) }

// Create implements [session.Store].
func (s *Store) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
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
func (s *Store) inherit(j *journal, c session.Created) (session.Created, error) {
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
func (s *Store) begin(j *journal) {
	s.sessions[j.id] = j
	if j.origin != nil {
		j.origin.forks++
	}
}

// Open implements [session.Store].
func (s *Store) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if j.writer != nil && !l.TakeOver {
		return nil, j.locked()
	}
	if !j.summary.Deleted.IsZero() {
		return nil, session.InTrash(id)
	}
	j.writer = &writer{store: s, id: id, owner: l.Owner, since: session.Now()}
	return j.writer, nil
}

// Annotate implements [session.Store].
func (s *Store) Annotate(ctx context.Context, id session.SessionID, bodies ...session.Body) ([]session.Event, error) {
	if err := check(true, bodies); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return nil, err
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

// List implements [session.Store].
func (s *Store) List(ctx context.Context, q session.Query) iter.Seq2[session.Summary, error] {
	return func(yield func(session.Summary, error) bool) {
		all, err := s.summaries(ctx, q)
		if err != nil {
			yield(session.Summary{}, err)
			return
		}
		slices.SortFunc(all, func(a, b session.Summary) int {
			return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
		})
		if q.Limit > 0 && len(all) > q.Limit {
			all = all[:q.Limit]
		}
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

func (s *Store) summaries(ctx context.Context, q session.Query) ([]session.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var all []session.Summary
	for _, j := range s.sessions {
		if !q.Selects(j.summary) {
			continue
		}
		one := j.summary
		if j.writer != nil {
			one.Owner = j.writer.owner
		}
		all = append(all, one)
	}
	return all, nil
}

// PutBlob implements [session.Store].
func (s *Store) PutBlob(ctx context.Context, id session.SessionID, data []byte) (string, error) {
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

// Blob implements [session.Store].
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
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

// Close implements [session.Store]. What was kept is gone; whoever watches is told.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, j := range s.sessions {
		j.wake()
	}
	s.sessions, s.blobs = nil, nil
	return nil
}
