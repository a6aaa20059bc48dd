package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/workspace/gitdir"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// repositories keeps the git repositories that confined commands make from running something outside of the sandbox later.
type repositories struct {
	once  sync.Once
	guard *gitdir.Guard // nil before the first such command
}

// watchRepositories looks at the repositories before a command. done must be called after it, once, when its changes have been looked
// for: it returns what was disarmed. Commands outside of the sandbox may do what they like, and those that only read do nothing here.
func (w *Workspace) watchRepositories(ctx context.Context, c Command) (done func(context.Context) ([]sandbox.Blocked, error), err error) {
	guard := w.repositories()
	if guard == nil || c.Unconfined || c.ReadOnly {
		return func(context.Context) ([]sandbox.Blocked, error) { return nil, nil }, nil
	}
	rules, err := w.seekRepositories(ctx, nil)
	if err != nil {
		return nil, err
	}
	early := guard.Begin()
	excluded := w.excluded()
	return func(ctx context.Context) ([]sandbox.Blocked, error) {
		if w.excluded() != excluded { // what scans leave out now, the command may have chosen
			for _, t := range w.roots {
				guard.Unseen(t.dir)
			}
		}
		_, sought := w.seekRepositories(context.WithoutCancel(ctx), rules)
		late, err := guard.End()
		var told []sandbox.Blocked
		for _, d := range slices.Concat(early, late) {
			told = append(told, sandbox.Blocked{What: sandbox.Write, Path: d.Path, Why: d.Why, Undone: true})
		}
		return told, errors.Join(sought, err)
	}, nil
}

// repositories returns the guard; nil where commands are not confined.
func (w *Workspace) repositories() *gitdir.Guard {
	r := &w.jobs.repositories
	r.once.Do(func() {
		if w.sandbox == nil {
			return
		}
		var roots []string
		for _, t := range w.roots {
			roots = append(roots, t.dir)
		}
		r.guard = GuardRepositories(roots, w.sandbox)
	})
	return r.guard
}

// GuardRepositories returns a guard of the git repositories in roots, which are absolute paths without links, for commands in a sandbox.
// It knows of none before it is told where to look.
func GuardRepositories(roots []string, p *sandbox.Policy) *gitdir.Guard {
	trees, fixed := slices.Clone(roots), []string(nil)
	for _, dir := range p.Writable {
		if dir, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(trees, dir) {
			trees = append(trees, dir)
		}
	}
	if p.Level() != sandbox.Partly { // which cannot protect them
		for _, path := range slices.Concat(p.Protected, p.Absent) {
			fixed = append(fixed, filepath.Clean(path))
		}
	}
	return gitdir.New(trees, fixed)
}

// excluded is what is ignored besides what ignore files say, which scans take as it is now.
func (w *Workspace) excluded() (text string) {
	for _, t := range w.roots {
		name := filepath.Join(t.top(), ".git", "info", "exclude")
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= maxIgnoreFile {
			data, _ := os.ReadFile(name)
			text += string(data)
		}
		text += "\x00"
	}
	return text
}

// seekRepositories goes through the roots for directories with repositories, where that is not done to follow changes anyway. What
// is ignored it leaves out, too: after a command, what was ignored before it.
func (w *Workspace) seekRepositories(ctx context.Context, before map[string][]rule) (rules map[string][]rule, err error) {
	if w.changed != nil && w.store != nil {
		return nil, nil
	}
	trees, _ := w.followed()
	s := scan{Workspace: w, ctx: ctx, limits: w.watched.limits.withDefaults(), old: before, after: before != nil}
	defer s.close()
	if err := s.look(trees); err != nil && !errors.Is(err, errTooMany) {
		return nil, fmt.Errorf("git repositories could not be looked for: %w", err)
	}
	return s.rules, nil
}

// noteRepositories tells the guard of a directory that the scan came to: with what is in it, or that this could not be known. A new
// one that brings ignore rules could hide something by them.
func (s *scan) noteRepositories(dir string, entries []fs.DirEntry, err error) {
	guard := s.repositories()
	if guard == nil {
		return
	}
	guard.Note(dir, entries)
	if _, known := s.old[dir]; err != nil || s.after && !known && slices.ContainsFunc(entries, isIgnoreFile) {
		guard.Unseen(dir)
	}
}

func isIgnoreFile(entry fs.DirEntry) bool {
	return entry.Name() == ".gitignore" || entry.Name() == ".ignore"
}
