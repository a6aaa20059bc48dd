package export

import (
	"context"
	"iter"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// whole yields the entries of a session as an independent journal. For a fork the inherited branch comes first, then its own entries, with
// new numbers and parents. The entries of other sessions do not change. The inherited branch is in memory, because a branch is read from its
// end.
func whole(ctx context.Context, store index.Store, id session.SessionID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		var f *flat
		for e, err := range store.Read(ctx, id, 0) {
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			if c, ok := e.Body.(session.Created); ok && c.Fork && f == nil {
				inherited, err := inheritedBy(ctx, store, id, e.ID)
				if err != nil {
					yield(session.Event{}, err)
					return
				}
				f = &flat{old: e.ID, begin: e.ID}
				c.Fork = false
				e.Body, e.Parent = c, ""
				if !yield(f.next(e), nil) {
					return
				}
				for _, old := range inherited {
					old.Parent = f.begin
					f.begin = old.ID
					if !yield(f.next(old), nil) {
						return
					}
				}
				continue
			}
			if f != nil {
				e = f.own(e)
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// inheritedBy returns the entries that a fork continues, oldest first, without the beginnings of sessions.
func inheritedBy(ctx context.Context, store index.Store, id session.SessionID, created session.ID) ([]session.Event, error) {
	var out []session.Event
	for e, err := range store.Backward(ctx, id, created) {
		if err != nil {
			return nil, err
		}
		if _, ok := e.Body.(session.Created); !ok {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// flat makes one journal of a fork and of the branch that it inherited.
type flat struct {
	seq   int64
	old   session.ID // of the fork's first entry
	begin session.ID // the entry that the fork's own entries continue
}

func (f *flat) next(e session.Event) session.Event {
	f.seq++
	e.Seq = f.seq
	if h, ok := e.Body.(session.Head); ok {
		h.To = e.Parent // the beginnings between sessions are gone
		e.Body = h
	}
	return e
}

// own changes an entry of the fork itself.
func (f *flat) own(e session.Event) session.Event {
	name := func(id session.ID) session.ID {
		if id == f.old {
			return f.begin
		}
		return id
	}
	e.Parent = name(e.Parent)
	switch b := e.Body.(type) {
	case session.Summarized:
		b.Through = name(b.Through)
		e.Body = b
	case session.Revert:
		b.To = name(b.To)
		e.Body = b
	case session.FilesChanged:
		b.To = name(b.To)
		e.Body = b
	}
	return f.next(e)
}
