package memory

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// journal is one session. Its slices only grow, so a copy of their headers is a snapshot.
type journal struct {
	id      session.SessionID
	entries []*entry
	places  map[session.ID]*entry // those that are on a branch
	tip     *entry                // the end of the current branch; nil: none yet
	base    *entry                // that a fork goes on from
	origin  *journal              // where base is
	deleted bool                  // it is in the trash
	writer  *writer               // who holds the lease
	blobs   map[string]bool       // hashes that the session uses
	forks   int                   // sessions whose origin it is
	purged  bool                  // and here for its forks alone
	changed chan struct{}         // closed and renewed with every change
}

// entry is an event and the one before it on its branch, in whichever journal that is.
type entry struct {
	session.Event
	before *entry
}

func newJournal(id session.SessionID) *journal {
	return &journal{
		id:     id,
		places: map[session.ID]*entry{}, blobs: map[string]bool{}, changed: make(chan struct{}),
	}
}

// reach returns the entry of an ID on the branches of the session, or in what it inherited: what its origin had when base
// was written.
func (j *journal) reach(id session.ID) (*entry, *journal, error) {
	until := int64(-1)
	for at := j; at != nil; at, until = at.origin, at.baseSeq() {
		if e := at.places[id]; e != nil && (until < 0 || e.Seq <= until) {
			return e, at, nil
		}
	}
	return nil, nil, notFound(fmt.Sprintf("session %s, entry %q", j.id, id))
}

func (j *journal) baseSeq() int64 {
	if j.base == nil {
		return -1
	}
	return j.base.Seq
}

// append makes entries of bodies, all or none. The store must be locked.
func (j *journal) append(at session.Stamp, bodies []session.Body) ([]session.Event, error) {
	if newest := int64(len(j.entries)); at.Expect != 0 && at.Expect != newest {
		return nil, &session.StaleError{Session: j.id, Expect: at.Expect, Newest: newest}
	}
	if len(bodies) == 0 {
		return nil, nil
	}
	for _, b := range bodies {
		if h, ok := b.(session.Head); ok {
			if _, _, err := j.reach(h.To); err != nil {
				return nil, err
			}
		}
	}
	now := session.Now()
	events := make([]session.Event, 0, len(bodies))
	for _, b := range bodies {
		events = append(events, j.add(session.Event{Run: at.Run, Turn: at.Turn, Time: now, Body: b}))
	}
	j.wake()
	return events, nil
}

// add gives the event its place.
func (j *journal) add(event session.Event) session.Event {
	e := &entry{Event: event}
	e.Seq = int64(len(j.entries) + 1)
	switch {
	case e.Seq == 1:
		e.ID = j.id
	case e.ID == "":
		e.ID = session.NewID()
	}
	if e.OnBranch() {
		e.before = j.tip
		if h, ok := e.Body.(session.Head); ok {
			e.before, _, _ = j.reach(h.To)
		}
		if e.Seq == 1 {
			e.before = j.base
		}
		if e.before != nil {
			e.Parent = e.before.ID
		}
		j.places[e.ID], j.tip = e, e
	}
	j.entries = append(j.entries, e)
	if d, ok := e.Body.(session.Deleted); ok {
		j.deleted = !d.Restored
	}
	return e.Event
}

// wake wakes the watchers of the session.
func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *journal) locked() error {
	return &session.LockedError{Session: j.id, Owner: j.writer.owner, Since: j.writer.since}
}

// writer implements [session.Writer].
type writer struct {
	store  *log
	id     session.SessionID
	owner  string
	since  time.Time
	closed bool
}

func (w *writer) Session() session.SessionID { return w.id }

func (w *writer) Append(ctx context.Context, at session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	if err := check(false, bodies); err != nil {
		return nil, err
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	j, err := w.journal(ctx)
	if err != nil {
		return nil, err
	}
	return j.append(at, bodies)
}

// journal is the one that the writer may append to. The store must be locked.
func (w *writer) journal(ctx context.Context) (*journal, error) {
	if w.closed {
		return nil, fmt.Errorf("session %s: append to a closed writer: %w", w.id, fs.ErrClosed)
	}
	if err := w.store.usable(ctx); err != nil {
		return nil, err
	}
	j := w.store.sessions[w.id]
	switch {
	case j == nil:
		return nil, &session.FencedError{Session: w.id}
	case j.writer == nil:
		return nil, &session.FencedError{Session: w.id}
	case j.writer != w:
		return nil, &session.FencedError{Session: w.id, Owner: j.writer.owner}
	}
	return j, nil
}

func (w *writer) Close() error {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.closed = true
	if j := w.store.sessions[w.id]; j != nil && j.writer == w {
		j.writer = nil
	}
	return nil
}

// snapshot returns the entries of a journal as they are now, and a channel that closes when it changes.
func (s *log) snapshot(ctx context.Context, id session.SessionID) (entries []*entry, changed chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return j.entries, j.changed, nil
}

// leaf returns the entry that a path begins with.
func (s *log) leaf(ctx context.Context, id session.SessionID, leaf session.ID) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if leaf == "" {
		return j.tip, nil
	}
	e, _, err := j.reach(leaf)
	return e, err
}

// Read implements [session.Log].
func (s *log) Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error] {
	return of(kinds, s.read(ctx, id, after, false))
}

// of is the entries of these kinds; without kinds all of them.
func of(kinds []string, entries iter.Seq2[session.Event, error]) iter.Seq2[session.Event, error] {
	if len(kinds) == 0 {
		return entries
	}
	return func(yield func(session.Event, error) bool) {
		for e, err := range entries {
			if (err != nil || slices.Contains(kinds, e.Body.Kind())) && !yield(e, err) {
				return
			}
		}
	}
}

// Watch implements [session.Log].
func (s *log) Watch(ctx context.Context, id session.SessionID, after int64) iter.Seq2[session.Event, error] {
	return s.read(ctx, id, after, true)
}

func (s *log) read(ctx context.Context, id session.SessionID, after int64, follow bool) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for next := max(after, 0); ; {
			entries, changed, err := s.snapshot(ctx, id)
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			for ; next < int64(len(entries)); next++ {
				if err := ctx.Err(); err != nil {
					yield(session.Event{}, err)
					return
				}
				if !yield(entries[next].Event, nil) {
					return
				}
			}
			if !follow {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// Backward implements [session.Log].
func (s *log) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		e, err := s.leaf(ctx, id, leaf)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		for ; e != nil; e = e.before {
			if err := ctx.Err(); err != nil {
				yield(session.Event{}, err)
				return
			}
			if !yield(e.Event, nil) {
				return
			}
		}
	}
}
