package session

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// Path is a branch of a session, from the root to one entry. It is read from its end, so that a view which needs the last
// fifty messages of a hundred thousand entries touches only those.
type Path interface {
	// Backward yields the entries of the branch, newest first.
	Backward(ctx context.Context) iter.Seq2[Event, error]
}

// Entries is a path in memory, oldest entry first. It serves tests and small sessions.
type Entries []Event

// Backward implements [Path].
func (es Entries) Backward(context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, e := range slices.Backward(es) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Stored returns the path in a store that ends at leaf; an empty leaf is the end of the current branch.
func Stored(s Store, id SessionID, leaf ID) Path { return stored{s, id, leaf} }

type stored struct {
	store Store
	id    SessionID
	leaf  ID
}

func (p stored) Backward(ctx context.Context) iter.Seq2[Event, error] {
	return p.store.Backward(ctx, p.id, p.leaf)
}

// Branch is the current branch of a session that is being written: what was appended since it was made stays in memory, the
// rest is read from the store when a view asks for it, and as far as it does, and then stays too. So views that go back to the
// same place read the store once, and memory holds no more than the longest of them read: [Branch.Forget] lets go of that.
// It is safe for concurrent use: an iteration shows the branch as it was when it began.
type Branch struct {
	store Store
	id    SessionID

	mu     sync.Mutex
	older  Path    // what lies before recent[0]; nil when that is the root
	recent []Event // oldest first
	moves  int     // how often older was replaced
}

// NewBranch returns the current branch of a session. It looks only where the branch ends.
func NewBranch(ctx context.Context, s Store, id SessionID) (*Branch, error) {
	tip, err := Tip(ctx, Stored(s, id, ""))
	if err != nil {
		return nil, err
	}
	// The path is that to today's tip: what is appended from now on is in recent.
	return &Branch{store: s, id: id, older: Stored(s, id, tip.ID)}, nil
}

// Append adds an entry that was written. Events that are on no branch are ignored; after a [Head] the branch is the one
// that ends there.
func (b *Branch) Append(e Event) {
	if !e.Durable() || !OnBranch(e.Body) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h, ok := e.Body.(Head); ok {
		at := slices.IndexFunc(b.recent, func(e Event) bool { return e.ID == h.To })
		if at >= 0 {
			b.recent = b.recent[: at+1 : at+1]
		} else {
			b.older, b.recent = Stored(b.store, b.id, h.To), nil
			b.moves++
		}
	}
	b.recent = append(b.recent, e)
}

// Backward implements [Path].
func (b *Branch) Backward(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		b.mu.Lock()
		older, recent, moves := b.older, b.recent, b.moves
		b.mu.Unlock()
		for _, e := range slices.Backward(recent) {
			if !yield(e, nil) {
				return
			}
		}
		if older == nil {
			return
		}
		var read []Event
		defer func() { b.keep(read, moves) }()
		for e, err := range older.Backward(ctx) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			read = append(read, e)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// keep puts what was read of older, newest first, before recent, unless older is another one by now. What lies before that
// is older then.
func (b *Branch) keep(read []Event, moves int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(read) == 0 || b.moves != moves {
		return
	}
	slices.Reverse(read)
	b.older, b.recent = b.before(read[0]), append(read, b.recent...)
	b.moves++
}

// before is the path that ends before an entry; nil when that is the root.
func (b *Branch) before(e Event) Path {
	if e.Parent == "" {
		return nil
	}
	return Stored(b.store, b.id, e.Parent)
}

// Forget lets go of the entries before one, when it is in memory: after a compaction no view goes further back, most of the time. One
// that does reads them again.
func (b *Branch) Forget(before ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.recent, func(e Event) bool { return e.ID == before })
	if at <= 0 {
		return
	}
	b.older, b.recent = b.before(b.recent[at]), slices.Clone(b.recent[at:])
	b.moves++
}

// Tip is the newest entry of a path; the zero Event when the path is empty.
func Tip(ctx context.Context, p Path) (Event, error) {
	for e, err := range p.Backward(ctx) {
		return e, err
	}
	return Event{}, nil
}
