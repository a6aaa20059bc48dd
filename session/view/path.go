// Package view reads branches. A [Path] is a branch of a session from the root to one entry, and a view is a function over a path:
// [Messages], [Uses], [Todos], [StateOf]. [Recover] and [Settle] compute the entries that a path lacks after a crash.
package view

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// Path is a branch of a session, from the root to one entry. Views read it from its end: a view that needs the last fifty messages of a
// hundred thousand entries reads only those.
type Path interface {
	// Backward yields the entries of the branch, newest first.
	Backward(ctx context.Context) iter.Seq2[session.Event, error]
}

// Entries is a path in memory, oldest entry first, for tests and small sessions.
type Entries []session.Event

// Backward implements [Path].
func (es Entries) Backward(context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range slices.Backward(es) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Stored returns the path of a log that ends at leaf. An empty leaf is the end of the current branch.
func Stored(s session.Log, id session.SessionID, leaf session.ID) Path { return stored{s, id, leaf} }

type stored struct {
	store session.Log
	id    session.SessionID
	leaf  session.ID
}

func (p stored) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return p.store.Backward(ctx, p.id, p.leaf)
}

// Branch is the current branch of a session that a process writes. It keeps the entries that the process appends, and those that a view
// has read from the log. So views that read back to the same entry read the log once. [Branch.Forget] releases memory. A Branch is safe for
// concurrent use: an iteration shows the branch at the time when it began.
type Branch struct {
	store session.Log
	id    session.SessionID

	mu     sync.Mutex
	older  Path            // the path before recent[0]; nil if that is the root
	recent []session.Event // oldest first
	moves  int             // how often older was replaced
}

// NewBranch returns the current branch of a session. It reads only the end of the branch.
func NewBranch(ctx context.Context, s session.Log, id session.SessionID) (*Branch, error) {
	tip, err := Tip(ctx, Stored(s, id, ""))
	if err != nil {
		return nil, err
	}
	b := &Branch{store: s, id: id, older: Stored(s, id, "")}
	if tip.ID != "" {
		b.older, b.recent = b.before(tip), []session.Event{tip}
	}
	return b, nil
}

// Append adds an entry that the journal has. It ignores events aside of branches. After a [session.Head] the branch is the one that ends
// there.
func (b *Branch) Append(e session.Event) {
	if !e.Durable() || !e.OnBranch() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h, ok := e.Body.(session.Head); ok {
		at := slices.IndexFunc(b.recent, func(e session.Event) bool { return e.ID == h.To })
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
func (b *Branch) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
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
		var read []session.Event
		defer func() { b.keep(read, moves) }()
		for e, err := range older.Backward(ctx) {
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			read = append(read, e)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// keep puts entries of older, newest first, before recent, unless older was replaced since.
func (b *Branch) keep(read []session.Event, moves int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(read) == 0 || b.moves != moves {
		return
	}
	slices.Reverse(read)
	b.older, b.recent = b.before(read[0]), append(read, b.recent...)
	b.moves++
}

// before is the path that ends before an entry; nil if that is the root.
func (b *Branch) before(e session.Event) Path {
	if e.Parent == "" {
		return nil
	}
	return Stored(b.store, b.id, e.Parent)
}

// Forget releases the entries before one that is in memory: after a summary most views do not read further back. A view that does reads
// them again.
func (b *Branch) Forget(before session.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.recent, func(e session.Event) bool { return e.ID == before })
	if at <= 0 {
		return
	}
	b.older, b.recent = b.before(b.recent[at]), slices.Clone(b.recent[at:])
	b.moves++
}

// Tip returns the newest entry of a path, or the zero Event if the path is empty.
func Tip(ctx context.Context, p Path) (session.Event, error) {
	for e, err := range p.Backward(ctx) {
		return e, err
	}
	return session.Event{}, nil
}
