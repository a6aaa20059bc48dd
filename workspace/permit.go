package workspace

import (
	"slices"
	"sync"
)

// use is what is done with a path.
type use int

const (
	reading use = iota
	writing
)

// allows reports whether the policy itself lets what lies outside be used.
func (p *policy) allows(u use) bool {
	return p.outside == AllOutside || p.outside == ReadOutside && u == reading
}

// Permit lets paths be used that lie outside or are protected, until revoke is called: those that were judged before a call, and no
// others. They are absolute and resolved; each stands for all below it. So a link that is put in the way after the judgement leads
// nowhere. What may be written may be read. Hidden paths stay hidden.
func (w *Workspace) Permit(read, write []string) (revoke func()) {
	p := &permit{read: read, write: write}
	w.permits.mu.Lock()
	defer w.permits.mu.Unlock()
	w.permits.now = append(w.permits.now, p)
	return func() {
		w.permits.mu.Lock()
		defer w.permits.mu.Unlock()
		w.permits.now = slices.DeleteFunc(w.permits.now, func(o *permit) bool { return o == p })
	}
}

// permits is what may be used now beyond the policy.
type permits struct {
	mu  sync.Mutex
	now []*permit
}

type permit struct{ read, write []string }

func (p *permits) has(abs string, u use) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.now, func(one *permit) bool {
		if _, ok := in(one.write, abs); ok {
			return true
		}
		_, ok := in(one.read, abs)
		return ok && u == reading
	})
}
