package workspace

import (
	"io/fs"
	"os"
	"slices"

	"github.com/tenon-agent/tenon/workspace/gitdir"
)

// quiet remembers what looks found in each directory, and asks the kernel for events: the look before the next command does not visit a directory
// in which nothing has happened since. The look after a command always visits all directories, as a command can change a file by a name that no
// event shows: a hard link in a directory that is ignored. It is for large trees on Linux.
type quiet struct {
	events events
	roots  map[string]*start // of each tree, as of the last look
	visits map[string]*visit // by absolute path; those of looks whose result became known
}

// start is where a look begins.
type start struct {
	above  ruleStack
	number uint64 // of the directory
}

// visit is what a look found in a directory.
type visit struct {
	above, below ruleStack // ignore rules outside and inside
	list         []rule    // of this directory
	entries      []named
	dirs         []string      // the directories among the entries, from the top of the tree
	signs        []fs.DirEntry // of a git repository

	loud bool // it must be visited: something happened, or not all that happens is an event
}

// begin takes the events since the last look. It must be called at the start of each look; nil is no look of a watch.
func (q *quiet) begin() {
	if q != nil && !q.events.take(q.disturb) {
		q.forget()
	}
}

// disturb notes that something happened in a directory.
func (q *quiet) disturb(dir string) {
	if v := q.visits[dir]; v != nil {
		v.loud = true
	}
}

// forget lets the next look visit all directories.
func (q *quiet) forget() { q.visits, q.roots = nil, nil }

func (q *quiet) close() {
	q.events.close()
	q.forget()
}

// watch asks for the events of a directory, before it is read. It reports false for the first directories of a large tree, too.
func (s *scan) watch(dir *os.File, abs string) bool {
	if s.quiet == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.count, len(s.before)) >= s.limits.quiet && s.quiet.events.watch(dir, abs)
}

// start returns where a look at a tree begins: where the last one did, if nothing is different, so that what lies below can be compared quickly.
func (s *scan) start(t *top, above ruleStack) *start {
	now := &start{above: above}
	if info, err := t.root.Stat("."); err == nil {
		now.number = statOf(info).number
	}
	if s.quiet == nil {
		return now
	}
	if old := s.quiet.roots[t.tree.dir]; old != nil {
		if old.number != now.number {
			s.quiet.forget()
		} else if old.above.equal(above) {
			return old
		}
	}
	return now
}

// unchanged returns what the last look found in a directory, if that is still so.
func (q *quiet) unchanged(dir string, above ruleStack) *visit {
	if q != nil {
		if v := q.visits[dir]; v != nil && !v.loud && v.above.same(above) {
			return v
		}
	}
	return nil
}

// rules returns the rules below a directory: those of the last look if they are equal.
func (q *quiet) rules(dir string, above ruleStack, rel string, list []rule) ruleStack {
	if q == nil {
		return above.with(rel, list)
	}
	if v := q.visits[dir]; v != nil && v.above.same(above) && slices.EqualFunc(v.list, list, sameRule) {
		return v.below
	}
	return above.with(rel, list)
}

// keep remembers a look whose result is known to all.
func (q *quiet) keep(s *scan) {
	for _, v := range s.visits {
		v.loud = v.loud || slices.ContainsFunc(v.entries, func(n named) bool { return !n.settled() })
	}
	q.visits, q.roots = s.visits, s.starts
	q.events.kept()
}

// settled reports whether the content of an entry is known. It may be fresh: a change after it was read is an event.
func (r *record) settled() bool { return r.stat.mode.IsDir() || r.known }

// quietDir takes what the last look found in a directory.
func (s *scan) quietDir(d *scanDir, abs string, v *visit) (more []*scanDir, err error) {
	if s.guard != nil && len(v.signs) > 0 {
		s.guard.Note(abs, v.signs)
	}
	for _, rel := range v.dirs {
		more = append(more, &scanDir{d.top, rel, v.below, true})
	}
	s.skipped.Store(true)
	return more, s.add(abs, v, v.entries, nil)
}

// signs returns the entries that show a git repository.
func signs(entries []fs.DirEntry) (found []fs.DirEntry) {
	for _, entry := range entries {
		if gitdir.Sign(entry) {
			found = append(found, entry)
		}
	}
	return found
}

// same reports whether two stacks are one; equal ones may be two.
func (s ruleStack) same(other ruleStack) bool {
	return s.prefix == other.prefix && len(s.rules) == len(other.rules) && (len(s.rules) == 0 || &s.rules[0] == &other.rules[0])
}

func (s ruleStack) equal(other ruleStack) bool {
	return s.prefix == other.prefix && slices.EqualFunc(s.rules, other.rules, func(a, b rules) bool {
		return a.dir == b.dir && slices.EqualFunc(a.list, b.list, sameRule)
	})
}

func sameRule(a, b rule) bool { return a.text == b.text }
