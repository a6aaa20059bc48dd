package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenon-agent/tenon/workspace/gitdir"
	"github.com/tenon-agent/tenon/workspace/internal/baseline"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// scan is one look at all files of some trees.
type scan struct {
	ctx    context.Context
	policy *policy
	guard  *gitdir.Guard      // of git repositories; nil: there is none
	base   *baseline.Baseline // keeps contents; nil: they are only hashed
	limits scanLimits
	before map[string]*record // as of the last look
	old    map[string][]rule  // ignore rules of before, which hold on where they are known
	after  bool               // a command is over
	quiet  *quiet             // of the looks before; nil: none

	tops []*top

	mu      sync.Mutex
	records map[string]*record // those of before, if nothing is different
	differ  map[string]*record // those of them that are not of before
	parts   [][]named          // the rest, by directory
	count   int
	whole   bool // nothing of before is missing
	rules   map[string][]rule
	starts  map[string]*start // of each tree
	visits  map[string]*visit

	skipped, linked atomic.Bool // directories were not visited; one that was has a new or changed file with several names
}

// named is a record and its path.
type named struct {
	name string
	*record
}

// errTooMany ends a look at a tree that is too large.
var errTooMany = errors.New("the tree is too large")

// scanDir is a directory that a look comes to.
type scanDir struct {
	top   *top
	rel   string
	rules ruleStack
	same  bool // it is the directory that the last look came to
}

// workers is how many goroutines look and read: some always wait for the disk.
func workers() int { return min(8, 2*runtime.GOMAXPROCS(0)) }

// look records every entry of the trees, with one call of the system for each. close must be called after it.
func (s *scan) look(trees []tree) error {
	for _, t := range trees {
		top, err := openTop(t)
		if err != nil {
			return err
		}
		s.tops = append(s.tops, top)
	}
	s.quiet.begin()
	err := s.visit()
	if err == nil && s.skipped.Load() && s.linked.Load() { // the file may have another name where nothing seems to have happened
		s.quiet.forget()
		err = s.visit()
	}
	if err != nil {
		return err
	}
	s.collect()
	s.checkMissing()
	return nil
}

// visit goes through all trees.
func (s *scan) visit() error {
	s.differ, s.rules, s.parts, s.count = map[string]*record{}, map[string][]rule{}, nil, 0
	s.starts, s.visits = map[string]*start{}, map[string]*visit{}
	for _, top := range s.tops {
		from := s.start(top, s.rulesAbove(top.tree))
		s.starts[top.tree.dir] = from
		if err := s.lookAt(&scanDir{top, "", from.above, true}); err != nil {
			return err
		}
	}
	return nil
}

// collect makes the map of records. Mostly nothing is different, and a map of all files costs more than the system takes to look at them.
func (s *scan) collect() {
	seen := s.count - len(s.differ)
	for name := range s.differ {
		if s.before[name] != nil {
			seen++
		}
	}
	if s.whole = seen == len(s.before); s.whole && len(s.differ) == 0 && s.before != nil {
		s.records = s.before
		return
	}
	s.records = make(map[string]*record, s.count)
	for _, part := range s.parts {
		for _, n := range part {
			s.records[n.name] = n.record
		}
	}
	maps.Copy(s.records, s.differ)
}

// unchanged reports whether a record of before is one of now, too.
func (s *scan) unchanged(b *record, now stat) bool {
	return b != nil && b.stat == now && (now.mode.IsDir() || !b.fresh && (b.known || s.after))
}

// rulesAbove returns the rules that hold at the top of a tree. After a command they are those from before it: the command cannot hide its
// changes by the exclude file.
func (s *scan) rulesAbove(t tree) ruleStack {
	name := t.excludeFile()
	exclude, known := s.old[name]
	if !known || !s.after {
		exclude = readOutside(name)
	}
	s.rules[name] = exclude
	return t.rulesWith("", exclude)
}

func (s *scan) close() {
	for _, top := range s.tops {
		top.close()
	}
}

// lookAt goes through one tree, several directories at a time.
func (s *scan) lookAt(start *scanDir) error {
	var (
		mu   sync.Mutex
		wake = sync.NewCond(&mu)
		todo = []*scanDir{start}
		busy int
		fail error
		all  sync.WaitGroup
	)
	for range workers() {
		all.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(todo) == 0 && busy > 0 && fail == nil {
					wake.Wait()
				}
				if len(todo) == 0 || fail != nil {
					wake.Broadcast()
					return
				}
				d := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				busy++
				mu.Unlock()
				more, err := s.dir(d)
				mu.Lock()
				busy--
				todo = append(todo, more...)
				if err != nil {
					fail = err
				}
				wake.Broadcast()
			}
		})
	}
	all.Wait()
	return fail
}

// dir looks at one directory and returns those in it.
func (s *scan) dir(d *scanDir) (more []*scanDir, err error) {
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	abs := filepath.Join(d.top.tree.dir, filepath.FromSlash(d.rel))
	if v := s.quiet.unchanged(abs, d.rules); v != nil && d.same && !s.after {
		return s.quietDir(d, abs, v)
	}
	f, err := d.top.openDir(d.rel)
	if err != nil {
		s.noteRepositories(abs, nil, err)
		return nil, nil // it went away, or may not be read: then commands of this user cannot read it either
	}
	defer f.Close()
	watched := s.watch(f, abs)
	entries, err := f.ReadDir(-1)
	s.noteRepositories(abs, entries, err)
	if err != nil {
		return nil, nil
	}
	list, known := s.old[abs]
	if !known {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		list = d.top.rulesIn(d.rel, entries)
	}
	rules := s.quiet.rules(abs, d.rules, d.rel, list)
	// After a command the rules of before it count: the next look must read those of now.
	v := &visit{above: d.rules, below: rules, list: list, loud: !watched || s.after && (len(list) > 0 || slices.ContainsFunc(entries, isIgnoreFile))}
	same, found := make([]named, 0, len(entries)), []named(nil)
	for _, entry := range entries {
		name := path.Join(d.rel, entry.Name())
		if entry.Name() == ".git" || strings.HasPrefix(entry.Name(), tempPrefix) || rules.ignore(name, entry.IsDir()) ||
			s.policy.hides(abs, entry.Name()) {
			continue
		}
		if t := entry.Type(); t != 0 && t != fs.ModeDir && t != fs.ModeSymlink {
			continue
		}
		stat, linked, err := statAt(f, entry)
		v.loud = v.loud || linked // a change by another name is no event here
		if err != nil || stat.mode.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
			continue
		}
		at := abs + string(filepath.Separator) + entry.Name()
		if sandbox.IsCover(at, stat.mode) {
			continue // no command made it
		}
		b := s.before[at]
		if s.unchanged(b, stat) {
			same = append(same, named{at, b})
		} else {
			if linked {
				s.linked.Store(true)
			}
			found = append(found, named{at, &record{stat: stat, state: State{Mode: stat.mode}}})
		}
		if stat.mode.IsDir() {
			more = append(more, &scanDir{d.top, name, rules, b != nil && b.stat.number == stat.number})
			v.dirs = append(v.dirs, name)
		}
	}
	if watched {
		v.entries, v.signs = slices.Concat(same, found), signs(entries)
	}
	return more, s.add(abs, v, same, found)
}

// add takes what one directory has.
func (s *scan) add(dir string, v *visit, same, found []named) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules[dir], s.visits[dir] = v.list, v
	s.parts = append(s.parts, same)
	for _, n := range found {
		s.differ[n.name] = n.record
	}
	if s.count += len(same) + len(found); s.count > s.limits.entries {
		return fmt.Errorf("%w: changes of commands are not followed beyond %d files", errTooMany, s.limits.entries)
	}
	return nil
}

// checkMissing records the files from before that the look did not visit, although they still exist.
func (s *scan) checkMissing() {
	if !s.after || s.whole {
		return
	}
	var missing []string
	for name := range s.before {
		if s.records[name] == nil {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing) // parents first
	for _, name := range missing {
		dir := filepath.Dir(name)
		if !s.isTop(dir) {
			if s.before[dir] == nil {
				delete(s.before, name) // a tool changed it where looks do not come to
				continue
			}
			if parent := s.records[dir]; parent == nil || !parent.stat.mode.IsDir() {
				continue
			}
		}
		switch info, err := os.Lstat(name); {
		case err == nil:
			s.records[name] = &record{stat: statOf(info), state: State{Mode: info.Mode()}}
			s.differ[name] = s.records[name]
		case !errors.Is(err, fs.ErrNotExist):
			s.records[name] = s.before[name] // it cannot be known
		}
	}
}

func (s *scan) isTop(dir string) bool {
	return slices.ContainsFunc(s.tops, func(t *top) bool { return t.tree.dir == dir })
}

// open opens a file of one of the trees.
func (s *scan) open(name string) (io.ReadCloser, error) {
	for _, top := range s.tops {
		rel, ok := paths.Rel(top.tree.dir, name)
		if !ok {
			continue
		}
		f, _, err := top.openFile(filepath.ToSlash(rel))
		if !errors.Is(err, errors.ErrUnsupported) {
			return f, err
		}
		return place{tree: top.tree, rel: rel, abs: name}.openRegular()
	}
	return nil, fs.ErrNotExist
}
