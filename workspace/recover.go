package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/internal/baseline"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Interrupted is the changes of commands whose process died while they ran.
type Interrupted struct {
	Label   string    // of the command that began last; see Options.Label
	Labels  []string  // of all that were under way, in the order in which they began
	Alive   time.Time // when the process was last known to be alive
	Changes []Change  // sorted by path
	Note    string    // the facts that are not known, and why; empty: all are
}

// MayRecover reports whether a process that died may have left commands of a session under way, by [Shared.Baselines] of its workspace.
func MayRecover(baselines, session string) bool {
	return baselines != "" && baseline.Left(baselines, session)
}

// Forget drops what dead processes left of the commands of a session.
func Forget(baselines, session string) error {
	if baselines == "" {
		return nil
	}
	return baseline.Forget(baselines, session)
}

// Recover finds out what the commands of a session changed that were under way when their process died, from the records that it made
// before them in baselines. It puts the contents before the changes into kept, and reports the changes once: if tell returns nil, Recover
// drops the records of the session. If nothing died, it does not call tell. If the process dies before that, the next one reports it.
//
// No process watched the files after the death. A change counts as one of the command only if the system says that it was made while the
// process was known to live; otherwise Change.Unsure has a reason.
//
// known returns the states of paths by the journal of that process since a time: those are reported already.
//
// No other process may have the session open.
func Recover(
	ctx context.Context, baselines, session string, kept contents.Store, known func(since time.Time) (map[string]*State, error),
	tell func(context.Context, Interrupted) error,
) error {
	if baselines == "" {
		return nil
	}
	return baseline.Each(baselines, session, func(base *baseline.Baseline) error {
		pages, alive, err := base.Log()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		var b *book
		if err == nil {
			b, err = readBook(pages)
		}
		if _, damaged := errors.AsType[*baseline.DamagedError](err); damaged || errors.Is(err, errPage) {
			return tell(ctx, Interrupted{Alive: alive, Note: "The records from before the command are damaged: the files that it changed are not known."})
		}
		if err != nil {
			return err
		}
		out := Interrupted{Alive: alive}
		others := map[string]bool{}
		for _, c := range b.commands {
			if c.session != session {
				others[c.session] = true
				continue
			}
			out.Label, out.Labels = c.label, append(out.Labels, c.label)
		}
		if len(out.Labels) == 0 {
			return nil
		}
		if err := b.learn(known); err != nil {
			return err
		}
		if out.Changes, out.Note, err = b.compare(ctx, alive); err != nil {
			return err
		}
		for i := range out.Changes {
			if names := slices.Sorted(maps.Keys(others)); len(names) > 0 && out.Changes[i].Unsure == "" {
				out.Changes[i].Unsure = overlapped(names)
			}
		}
		if err := keepBefore(ctx, base, kept, out.Changes); err != nil {
			return err
		}
		return tell(ctx, out)
	})
}

// learn takes in what the journal knows since the last page.
func (b *book) learn(known func(since time.Time) (map[string]*State, error)) error {
	told, err := known(b.written)
	for name, state := range told {
		if _, inside := b.treeOf(name); state == nil {
			delete(b.records, name)
		} else if inside {
			b.records[name] = &record{state: *state, stat: stat{mode: state.Mode}, known: true, fresh: true}
		}
	}
	return err
}

// treeOf is the tree that a path lies in.
func (b *book) treeOf(name string) (dir string, ok bool) {
	i := slices.IndexFunc(b.trees, func(dir string) bool { return paths.Inside(dir, name) })
	if i < 0 {
		return "", false
	}
	return b.trees[i], true
}

// compare looks for differences. The note names what could not be compared.
func (b *book) compare(ctx context.Context, alive time.Time) (changes []Change, note string, err error) {
	var notes []string
	for _, c := range b.commands {
		if note := awaitSurvivors(ctx, c.token); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	var trees []tree
	for _, dir := range b.trees {
		t, err := openTree(dir)
		if err != nil {
			notes = append(notes, fmt.Sprintf("The changes of the command in %s are not known: %v.", Quote(dir), err))
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
	hidden := newPolicy(paths.Bounds{Hidden: b.hidden})
	s := aftermath{alive: alive, numbers: b.numbers, scan: scan{
		ctx: ctx, policy: &hidden, limits: limits, before: b.records, old: b.rules, after: true,
	}}
	defer s.close()
	err = s.look(trees)
	if errors.Is(err, errTooMany) {
		return nil, strings.Join(append(notes, "The changes of the command are not known: "+err.Error()+"."), " "), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("cannot find out what the interrupted command has changed: %w", err)
	}
	if err := s.read(); err != nil {
		return nil, "", fmt.Errorf("cannot read what the interrupted command has changed: %w", err)
	}
	changes = s.changes()
	for i := range changes {
		changes[i].Unsure = s.unsure(changes[i].Path)
	}
	return changes, strings.Join(notes, " "), nil
}

// aftermath is a look at the files after the death of a process that ran commands.
type aftermath struct {
	scan
	alive   time.Time         // when the process was last known to be alive
	numbers map[string]uint64 // that the file system had for the trees before the command
}

// unsure returns a reason why a change may be another's, unless neither the file nor the directories above it changed after the process was
// last known to be alive. The time that counts is the one that no program can set.
func (s *aftermath) unsure(name string) string {
	const (
		since = "was changed when Tenon may have been dead already, by the command or by another program or person"
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
	// Another directory, with all its files, may be in the place of one above it.
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
