package tool

import (
	"context"
	"sync"
)

type usedKey struct{}

// used holds what must happen when the result of a call is used.
type used struct {
	mu    sync.Mutex
	is    bool
	after []func()
}

// WhenUsed calls f when the result of the running call is certain to enter the conversation: at once, unless the agent began the call while
// the answer was still coming. A tool notes in f what the model has seen.
func WhenUsed(ctx context.Context, f func()) {
	u, ok := ctx.Value(usedKey{}).(*used)
	if !ok {
		f()
		return
	}
	u.mu.Lock()
	now := u.is
	if !now {
		u.after = append(u.after, f)
	}
	u.mu.Unlock()
	if now {
		f()
	}
}

// Unused returns a context for a call whose result may be discarded, and the function to call when it is used.
func Unused(ctx context.Context) (_ context.Context, use func()) {
	u := &used{}
	return context.WithValue(ctx, usedKey{}, u), func() {
		u.mu.Lock()
		after := u.after
		u.is, u.after = true, nil
		u.mu.Unlock()
		for _, f := range after {
			f()
		}
	}
}
