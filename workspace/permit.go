package workspace

import (
	"slices"
	"sync"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// use is the use of a path.
type use int

const (
	reading use = iota
	writing
)

// allows reports whether the policy itself allows a use of paths outside.
func (p *policy) allows(u use) bool {
	return p.outside == AllOutside || p.outside == ReadOutside && u == reading
}

// Permit allows the use of paths that lie outside or are protected, until revoke is called: the paths that were judged before a call, and no
// others. They are absolute and resolved; each includes all below it. A link that is made after the judgment does not help, because the
// paths are resolved. Permission to write includes permission to read. Hidden paths stay hidden.
func (b *boundary) Permit(read, write []string) (revoke func()) {
	p := &permit{read: read, write: write}
	b.permits.mu.Lock()
	defer b.permits.mu.Unlock()
	b.permits.now = append(b.permits.now, p)
	return func() {
		b.permits.mu.Lock()
		defer b.permits.mu.Unlock()
		b.permits.now = slices.DeleteFunc(b.permits.now, func(o *permit) bool { return o == p })
	}
}

// permits are the paths that may be used now beyond the policy.
type permits struct {
	mu  sync.Mutex
	now []*permit
}

type permit struct{ read, write []string }

func (p *permits) has(abs string, u use) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.now, func(one *permit) bool {
		if _, ok := paths.In(one.write, abs); ok {
			return true
		}
		_, ok := paths.In(one.read, abs)
		return ok && u == reading
	})
}
