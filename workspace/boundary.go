package workspace

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// boundary is the directories of a workspace, and the judge of paths.
type boundary struct {
	tree              // relative names start here
	roots    []tree   // the directories that count as inside, the deepest first; one of them is tree
	writable []string // the write scope of the session, resolved
	policy   policy   // at the start; looks at the directories keep it
	limits   atomic.Pointer[policy]
	resolver paths.Resolver
	permits  permits
	outputs  *outputs // may be read, wherever they are
	scratch  scratch
}

// policy decides which paths may be used. Its lists have resolved absolute paths.
type policy struct {
	outside Outside
	refuse  func(name string) error
	bounds  paths.Bounds
	scratch paths.Scratch       // commands write temporary files there, and tools reach it by the same names
	unseen  map[string][]string // names of hidden paths, by directory: walks leave them out
}

// No file of /proc is for tools: it shows the memory and the environment of processes, and its links lead out of every boundary.
func newPolicy(b paths.Bounds) policy {
	b.Hidden = append(slices.Clip(b.Hidden), "/proc")
	p := policy{bounds: b, unseen: map[string][]string{}}
	for _, name := range b.Hidden {
		dir := paths.Key(filepath.Dir(name))
		p.unseen[dir] = append(p.unseen[dir], filepath.Base(name))
	}
	return p
}

// Limits are the limits of a workspace that can change while it is open.
type Limits struct {
	Hidden    []string        // as in [Options]
	Protected []string        // as in [Options]
	Sandbox   *sandbox.Policy // of commands; nil: they run as this process does
}

// Limit changes the limits, for example after the mode of the session has changed. Commands that run keep theirs. Undo and the attribution
// of changes look at the same files as before.
func (w *Workspace) Limit(l Limits) {
	next := newPolicy(paths.Bounds{Root: w.dir, Hidden: l.Hidden, Shown: w.policy.bounds.Shown, Protected: l.Protected}.Resolve())
	next.outside, next.refuse = w.policy.outside, w.policy.refuse
	if l.Sandbox != nil {
		next.scratch = l.Sandbox.Scratch()
	}
	w.limits.Store(&next)
	w.commands.confine(l.Sandbox)
}

// secret returns the hidden path that a path is or lies in, unless it is shown and only read.
func (p *policy) secret(abs string, u use) (string, bool) {
	return p.bounds.Secret(abs, u == writing)
}

// leaves reports whether a walk leaves out an entry of a directory.
func (p *policy) leaves(dir, name string) bool {
	return p.hides(dir, name) || p.refuse != nil && p.refuse(filepath.Join(dir, name)) != nil
}

// hides reports whether an entry of a directory is hidden.
func (p *policy) hides(dir, name string) bool {
	if len(p.bounds.Hidden) == 0 {
		return false
	}
	for _, hidden := range p.unseen[paths.Key(dir)] {
		if paths.Same(hidden, name) {
			return true
		}
	}
	return false
}

// Dir returns the root of the project, an absolute path without links.
func (b *boundary) Dir() string { return b.dir }
