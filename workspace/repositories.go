package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/tenon-agent/tenon/workspace/gitdir"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// repositories keep git repositories from executing code outside the sandbox that a confined command left there.
type repositories struct {
	*follower

	mu      sync.Mutex
	sandbox *sandbox.Policy // nil: commands are not confined
	guard   *gitdir.Guard   // nil before the first confined command
}

// confine changes the sandbox of commands.
func (r *repositories) confine(p *sandbox.Policy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandbox, r.guard = p, nil
}

// confined returns the sandbox of commands.
func (r *repositories) confined() *sandbox.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sandbox
}

// begin looks at the repositories before a command, and returns its policy with views of them. The caller calls done after it, once, when its
// changes are known: it returns the changes that it reverted. Commands outside the sandbox may do anything, and commands that only read
// can change no repository.
func (r *repositories) begin(ctx context.Context, c Command, policy *sandbox.Policy) (_ *sandbox.Policy, done func(context.Context) ([]sandbox.Blocked, error), err error) {
	guard := r.get()
	if guard == nil || policy == nil {
		return policy, func(context.Context) ([]sandbox.Blocked, error) { return nil, nil }, nil
	}
	if c.ReadOnly {
		return policy.See(nil, guard.GitDirs(policy.Git)), func(context.Context) ([]sandbox.Blocked, error) { return nil, nil }, nil
	}
	rules, err := r.seek(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	early := guard.Begin()
	excluded := r.excluded()
	seen, leave := View(policy, guard)
	return seen, func(ctx context.Context) ([]sandbox.Blocked, error) {
		dropped, left := leave()
		if r.excluded() != excluded { // the command may have chosen what looks leave out now
			for _, t := range r.roots {
				guard.Unseen(t.dir)
			}
		}
		_, sought := r.seek(context.WithoutCancel(ctx), rules)
		late, err := guard.End()
		return append(dropped, undone(slices.Concat(early, late))...), errors.Join(left, sought, err)
	}, nil
}

func undone(all []gitdir.Disarmed) (reverted []sandbox.Blocked) {
	for _, d := range all {
		reverted = append(reverted, sandbox.Blocked{What: sandbox.Write, Path: d.Path, Why: d.Why, Undone: true})
	}
	return reverted
}

// maxViews is how many repositories in the workspace have a view; commands can only read the git directories of the others.
const maxViews = 32

// View returns a policy for one command with a private top level of every git directory that commands may write: those of the projects, and
// those that the guard has seen. The caller calls leave when the command has ended; it brings the changes back, and returns those that it left
// out. Without namespaces there are no views.
func View(p *sandbox.Policy, guard *gitdir.Guard) (seen *sandbox.Policy, leave func() ([]sandbox.Blocked, error)) {
	var views []*gitdir.View
	var shown []sandbox.View
	var closed []string
	if p.Level() == sandbox.Namespaces {
		for _, at := range guard.GitDirs(p.Git) {
			var v *gitdir.View
			err := errors.New("there are too many")
			if len(views) < maxViews {
				live := filepath.Join(sandbox.LivePlace, strconv.Itoa(len(views)))
				v, err = gitdir.NewView(at, live)
			}
			if err != nil {
				closed = append(closed, at)
				continue
			}
			views = append(views, v)
			shown = append(shown, sandbox.View{Path: at, Private: v.Dir, Place: filepath.Join(sandbox.LivePlace, strconv.Itoa(len(views)-1)), Live: v.Live, Fixed: v.Fixed})
		}
	}
	return p.See(shown, closed), func() (left []sandbox.Blocked, err error) {
		for _, v := range views {
			dropped, same, failed := v.Close()
			left, err = append(left, undone(dropped)...), errors.Join(err, failed)
			if !same {
				guard.Doubt(v.Path)
			}
		}
		return left, err
	}
}

// get returns the guard; nil if commands are not confined.
func (r *repositories) get() *gitdir.Guard {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guard == nil && r.sandbox != nil {
		var roots []string
		for _, t := range r.roots {
			roots = append(roots, t.dir)
		}
		r.guard = GuardRepositories(roots, r.sandbox)
	}
	return r.guard
}

// GuardRepositories returns a guard of the git repositories in roots, which are absolute paths without links, for commands in a sandbox.
// It knows of no repository before its first look.
func GuardRepositories(roots []string, p *sandbox.Policy) *gitdir.Guard {
	trees, fixed, git := slices.Clone(roots), []string(nil), []string(nil)
	for _, dir := range p.Writable {
		if t, err := paths.Once().Resolve(dir); err == nil && t.Exists && !slices.Contains(trees, t.Path) {
			trees = append(trees, t.Path)
		}
	}
	if p.Level() != sandbox.Partly { // which cannot protect them
		for _, path := range slices.Concat(p.Protected, p.Absent) {
			fixed = append(fixed, filepath.Clean(path))
		}
		git = p.Git
	}
	return gitdir.New(trees, fixed, git...)
}

// excluded returns the exclude files of git, which looks read again each time.
func (r *repositories) excluded() (text string) {
	for _, t := range r.roots {
		name := filepath.Join(t.top(), ".git", "info", "exclude")
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= maxIgnoreFile {
			data, _ := os.ReadFile(name)
			text += string(data)
		}
		text += "\x00"
	}
	return text
}

// seek goes through the roots for directories with repositories, unless the looks for changes do that. It leaves out ignored files, too:
// after a command, those that were ignored before it.
func (r *repositories) seek(ctx context.Context, before map[string][]rule) (rules map[string][]rule, err error) {
	if r.changed != nil && r.kept != nil {
		return nil, nil
	}
	trees, _ := r.followed()
	s := scan{ctx: ctx, policy: &r.policy, guard: r.get(), limits: r.limits.withDefaults(), old: before, after: before != nil}
	defer s.close()
	if err := s.look(trees); err != nil && !errors.Is(err, errTooMany) {
		return nil, fmt.Errorf("cannot look for git repositories: %w", err)
	}
	return s.rules, nil
}

// noteRepositories reports a directory of the look to the guard: with its entries, or that they could not be read. A new directory with
// ignore rules could hide something by them.
func (s *scan) noteRepositories(dir string, entries []fs.DirEntry, err error) {
	if s.guard == nil {
		return
	}
	s.guard.Note(dir, entries)
	if _, known := s.old[dir]; err != nil || s.after && !known && slices.ContainsFunc(entries, isIgnoreFile) {
		s.guard.Unseen(dir)
	}
}

func isIgnoreFile(entry fs.DirEntry) bool {
	return entry.Name() == ".gitignore" || entry.Name() == ".ignore"
}
