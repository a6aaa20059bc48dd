package memory

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// journal is one session. Its slices only grow, so a copy of their headers is a snapshot.
type journal struct {
	id      session.SessionID
	entries []session.Event
	parents []int              // of each entry, its parent's place in entries; -1: none
	places  map[session.ID]int // of the entries that are on a branch
	tip     int                // the end of the current branch; -1: none yet
	summary session.Summary
	writer  *writer         // who holds the lease
	blobs   map[string]bool // hashes that the session uses
	changed chan struct{}   // closed and renewed with every change
}

func newJournal(id session.SessionID) *journal {
	return &journal{
		id: id, tip: -1, summary: session.Summary{ID: id},
		places: map[session.ID]int{}, blobs: map[string]bool{}, changed: make(chan struct{}),
	}
}

// append makes entries of bodies, all or none. The store must be locked.
func (j *journal) append(at session.Stamp, bodies []session.Body) ([]session.Event, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	for _, b := range bodies {
		if h, ok := b.(session.Head); ok {
			if _, ok := j.places[h.To]; !ok {
				return nil, notFound(fmt.Sprintf("session %s, entry %q", j.id, h.To))
			}
		}
	}
	from, now := len(j.entries), session.Now()
	for _, b := range bodies {
		j.add(session.Event{Run: at.Run, Turn: at.Turn, Time: now, Body: b})
	}
	j.wake()
	return append([]session.Event(nil), j.entries[from:]...), nil
}

// add gives the event its place.
func (j *journal) add(e session.Event) {
	place, parent := len(j.entries), -1
	e.Seq = int64(place + 1)
	switch {
	case place == 0:
		e.ID = j.id
	case e.ID == "":
		e.ID = session.NewID()
	}
	if session.OnBranch(e.Body) {
		parent = j.tip
		if h, ok := e.Body.(session.Head); ok {
			parent = j.places[h.To]
		}
		if parent >= 0 {
			e.Parent = j.entries[parent].ID
		}
		j.places[e.ID], j.tip = place, place
	}
	j.entries, j.parents = append(j.entries, e), append(j.parents, parent)
	j.summary.Add(e)
}

// wake tells those who watch that something changed.
func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *journal) locked() error {
	return &session.LockedError{Session: j.id, Owner: j.writer.owner, Since: j.writer.since}
}

// writer implements [session.Writer].
type writer struct {
	store  *Store
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
	return j.append(at, bodies)
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

// snapshot is a journal at one moment.
type snapshot struct {
	entries []session.Event
	parents []int
	leaf    int
	changed chan struct{}
}

// snapshot returns a journal as it is now, with the place of leaf or, when that is empty, of the branch's end.
func (s *Store) snapshot(ctx context.Context, id session.SessionID, leaf session.ID) (snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(ctx, id)
	if err != nil {
		return snapshot{}, err
	}
	now := snapshot{j.entries, j.parents, j.tip, j.changed}
	if leaf != "" {
		place, ok := j.places[leaf]
		if !ok {
			return snapshot{}, notFound(fmt.Sprintf("session %s, entry %q", id, leaf))
		}
		now.leaf = place
	}
	return now, nil
}

// Read implements [session.Store].
func (s *Store) Read(ctx context.Context, id session.SessionID, after int64) iter.Seq2[session.Event, error] {
	return s.read(ctx, id, after, false)
}

// Watch implements [session.Store].
func (s *Store) Watch(ctx context.Context, id session.SessionID, after int64) iter.Seq2[session.Event, error] {
	return s.read(ctx, id, after, true)
}

func (s *Store) read(ctx context.Context, id session.SessionID, after int64, follow bool) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for next := max(after, 0); ; {
			now, err := s.snapshot(ctx, id, "")
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			for ; next < int64(len(now.entries)); next++ {
				if err := ctx.Err(); err != nil {
					yield(session.Event{}, err)
					return
				}
				if !yield(now.entries[next], nil) {
					return
				}
			}
			if !follow {
				return
			}
			select {
			case <-now.changed:
			case <-ctx.Done():
			}
		}
	}
}

// Backward implements [session.Store].
func (s *Store) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		now, err := s.snapshot(ctx, id, leaf)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		for place := now.leaf; place >= 0; place = now.parents[place] {
			if err := ctx.Err(); err != nil {
				yield(session.Event{}, err)
				return
			}
			if !yield(now.entries[place], nil) {
				return
			}
		}
	}
}

// Annotations implements [session.Store].
func (s *Store) Annotations(ctx context.Context, id session.SessionID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range s.Read(ctx, id, 0) {
			if err == nil && session.OnBranch(e.Body) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
