package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// Interrupted is what commands changed whose process died under them.
type Interrupted struct {
	Label   string    // of the command that began last; see Options.Label
	Labels  []string  // of all that were under way, in the order in which they began
	Alive   time.Time // when the process was last known to be alive
	Changes []Change  // sorted by path
	Note    string    // what could not be found out, and why; empty: nothing
}

// Recover finds out what commands changed that were under way when their process died, from what was taken down before them beside
// the contents. It tells it once: when tell returns nil, what was taken down is dropped. When there is nothing to tell, or nothing died,
// tell is not called. When the process dies before that, nothing has changed, and the next one tells it.
//
// Nobody watched after the death. A change is taken for one of the command only when the system says that it was made while the process
// was known to live; Change.Unsure says so of all others, which may as well be somebody else's.
//
// Known says what lies at paths by the journal of that process since a time, as far as it says something: that was told already.
//
// No workspace with the store may be open, nor may the process live.
func Recover(
	ctx context.Context, store *checkpoint.Store, known func(since time.Time) (map[string]*State, error),
	tell func(context.Context, Interrupted) error,
) error {
	pages, alive, err := store.ReadLog()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var b *book
	if err == nil {
		b, err = readBook(pages)
	}
	if _, damaged := errors.AsType[*checkpoint.DamagedLogError](err); damaged || errors.Is(err, errPage) {
		err = tell(ctx, Interrupted{Alive: alive, Note: "What was taken down before the command is damaged: which files it changed is not known."})
		return errors.Join(err, dropUnless(err, store))
	}
	if err != nil {
		return err
	}
	if len(b.commands) == 0 {
		return store.RemoveLog()
	}
	out := Interrupted{Alive: alive, Label: b.commands[len(b.commands)-1].label}
	for _, c := range b.commands {
		out.Labels = append(out.Labels, c.label)
	}
	told, err := known(b.written)
	if err != nil {
		return err
	}
	for name, state := range told {
		if _, inside := b.treeOf(name); state == nil {
			delete(b.records, name)
		} else if inside {
			b.records[name] = &record{state: *state, stat: stat{mode: state.Mode}, known: true, fresh: true}
		}
	}
	if out.Changes, out.Note, err = b.compare(ctx, store, alive); err != nil {
		return err
	}
	err = tell(ctx, out)
	return errors.Join(err, dropUnless(err, store))
}

func dropUnless(err error, store *checkpoint.Store) error {
	if err != nil {
		return nil
	}
	return store.RemoveLog()
}

// treeOf is the tree that a path lies in.
func (b *book) treeOf(name string) (dir string, ok bool) {
	i := slices.IndexFunc(b.trees, func(dir string) bool { _, inside := below(dir, name); return inside })
	if i < 0 {
		return "", false
	}
	return b.trees[i], true
}

// compare looks what is different now. The note says what could not be compared.
func (b *book) compare(ctx context.Context, store *checkpoint.Store, alive time.Time) (changes []Change, note string, err error) {
	var notes []string
	if note := awaitSurvivors(ctx, b.token); note != "" {
		notes = append(notes, note)
	}
	var trees []tree
	for _, dir := range b.trees {
		t, err := openTree(dir)
		if err != nil {
			notes = append(notes, fmt.Sprintf("What the command changed in %s is not known: %v.", Quote(dir), err))
			for name := range b.records {
				if at, _ := b.treeOf(name); at == dir {
					delete(b.records, name)
				}
			}
			continue
		}
		defer t.root.Close()
		trees = append(trees, t)
	}
	limits := scanLimits{}.withDefaults()
	limits.entries *= 10 // it may have made many
	s := aftermath{alive: alive, numbers: b.numbers, scan: scan{
		Workspace: &Workspace{store: store, policy: policy{hidden: b.hidden, unseen: map[string][]string{}}},
		ctx:       ctx, limits: limits, before: b.records, old: b.rules, after: true,
	}}
	for _, name := range b.hidden {
		dir := key(filepath.Dir(name))
		s.policy.unseen[dir] = append(s.policy.unseen[dir], filepath.Base(name))
	}
	defer s.close()
	err = s.look(trees)
	if errors.Is(err, errTooMany) {
		return nil, strings.Join(append(notes, "What the command changed is not known: "+err.Error()+"."), " "), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("what the interrupted command has changed could not be found out: %w", err)
	}
	if err := s.read(); err != nil {
		return nil, "", fmt.Errorf("what the interrupted command has changed could not be read: %w", err)
	}
	changes = s.changes()
	for i := range changes {
		c := &changes[i]
		c.Unsure = s.unsure(c.Path)
		if before := c.Before; before != nil && before.Mode.IsRegular() && before.Lost == "" {
			if _, err := store.Get(before.Hash); err != nil {
				before.Lost = err.Error()
			}
		}
	}
	return changes, strings.Join(notes, " "), store.Sync()
}

// aftermath is a look at what a command left whose process was killed under it.
type aftermath struct {
	scan
	alive   time.Time         // when the process was last known to be alive
	numbers map[string]uint64 // that the file system had for the trees before the command
}

// unsure says why a change may be somebody else's: neither the file nor what it lies in must have been touched after the process was
// last known to be alive. The time that counts is the one that no program can set.
func (s *aftermath) unsure(name string) string {
	const (
		since = "was changed when Tenon may have been dead already, by the command or by somebody else"
		file  = "it " + since
	)
	dir := filepath.Dir(name)
	if r := s.records[name]; r != nil {
		if !s.beforeDeath(r.stat) {
			return file
		}
	} else {
		for !s.isTop(dir) && s.records[dir] == nil && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
		if r, ok := s.directory(dir); !ok || !s.beforeDeath(r) {
			return "the directory that it was in " + since
		}
	}
	// Somebody may have put another directory in the place of one above it, with all that is in it.
	for ; ; dir = filepath.Dir(dir) {
		now, ok := s.directory(dir)
		if !ok || now.number == 0 || now.number != s.number(dir) && !s.beforeDeath(now) {
			return "a directory above it " + since
		}
		if s.isTop(dir) {
			return ""
		}
	}
}

// directory is what a look found of a directory.
func (s *aftermath) directory(dir string) (stat, bool) {
	if r := s.records[dir]; r != nil {
		return r.stat, true
	}
	if !s.isTop(dir) {
		return stat{}, false
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return stat{}, false
	}
	return statOf(info), true
}

// number is the number that the file system had for a directory before the command; 0: there was none.
func (s *aftermath) number(dir string) uint64 {
	if b := s.before[dir]; b != nil && b.stat.mode.IsDir() {
		return b.stat.number
	}
	return s.numbers[dir]
}

// beforeDeath reports whether the last change is older than the last sign of life. The clock of file systems is behind, by less than the
// margin.
func (s *aftermath) beforeDeath(of stat) bool {
	margin := 20 * time.Millisecond
	if of.changed%int64(time.Second) == 0 {
		margin = 2 * time.Second // a file system that counts in seconds
	}
	return of.changed != 0 && time.Unix(0, of.changed).Before(s.alive.Add(-margin))
}
