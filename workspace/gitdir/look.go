package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// look is one look at the repositories.
type look struct {
	reader
	guard  *Guard
	accept bool // the state belongs to the person
	now    known
	seen   map[string]bool // git directories and paths that the look has visited
	walked int             // directories, beyond those that were noted
	told   []Disarmed
	errs   []error
}

const (
	maxRepositories = 20_000  // that one look comes to
	maxWalked       = 200_000 // directories that are walked where an index cannot be read
)

var errMany = errors.New("there are too many repositories, or directories that may have one, to look at all of them")

func (l *look) inside(path string) bool { return l.guard.inside(path) }

// first reports whether the look visits a path for the first time.
func (l *look) first(path string) bool {
	if l.seen[path] {
		return false
	}
	l.seen[path] = true
	if len(l.seen) > maxRepositories {
		if len(l.seen) == maxRepositories+1 {
			l.errs = append(l.errs, errMany)
		}
		return false
	}
	return true
}

// place looks at the repository that a directory has or is, and reports whether there may be one.
func (l *look) place(dir string) bool {
	if !l.first(dir) {
		return true
	}
	root, err := l.open(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoDirectory)
	}
	defer root.Close()
	found := false
	switch info, err := root.Lstat(".git"); {
	case err != nil:
	case info.IsDir():
		l.gitDir(filepath.Join(dir, ".git"), dir)
		found = true
	case info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink:
		l.link(root, dir)
		found = true
	}
	has := func(name string) bool { _, err := root.Lstat(name); return err == nil }
	if has("HEAD") && (has("commondir") || has("objects") && has("refs")) {
		l.gitDir(dir, dir)
		found = true
	}
	return found
}

// link looks at a file or a link that leads to a git directory. A new one may lead to one that steers nothing, or that knows this
// place as its own; all else is put aside.
func (l *look) link(root *os.Root, dir string) {
	at := filepath.Join(dir, ".git")
	f, err := load(root, ".git")
	if err != nil {
		return
	}
	target, plain := "", false
	if f.mode.Type() == fs.ModeSymlink {
		target, _ = real(dir, string(f.data))
	} else if name, ok := strings.CutPrefix(string(f.data), "gitdir: "); ok && !f.lost {
		target, plain = real(dir, line([]byte(name)))
	}
	var c contents
	ok := target != "" && l.inside(target)
	if ok {
		c = l.gitDir(target, dir)
	}
	old, was := l.guard.known.links[at]
	switch {
	case l.accept, l.guard.isFixed(at), was && old.mode.Type() == f.mode.Type() && string(old.data) == string(f.data):
	case ok && plain && (c.steering() == "" || c.worktree == dir || c.back == at):
	default:
		l.putLinkAside(root, at, old, was)
		if f, err = load(root, ".git"); err != nil {
			return
		}
	}
	l.now.links[at] = f
}

func (l *look) putLinkAside(root *os.Root, at string, old file, was bool) {
	place := ".git." + aside
	for n := 2; ; n++ {
		if _, err := root.Lstat(place); err != nil {
			break
		}
		place = fmt.Sprintf(".git.%s-%d", aside, n)
	}
	err := root.Rename(".git", place)
	if err == nil && was {
		err = put(root, ".git", old)
	}
	if err != nil {
		l.errs = append(l.errs, notDisarmed(at, err))
	}
	l.told = append(l.told, Disarmed{at, "it led git to a repository that can run programs or cannot be looked at, outside the sandbox too; " +
		"it is now " + filepath.Join(filepath.Dir(at), place) + "; a person can bring it back"})
}

func notDisarmed(at string, err error) error {
	return fmt.Errorf("%s may run programs when git is used there, and could not be kept from it: %w; remove it before", at, err)
}

// steering returns everything in a git directory that makes git execute something.
func (c contents) steering() string {
	all := ""
	for _, f := range c.files {
		all += f.steers
	}
	return all
}

// gitDir looks at a git directory with its worktree, and at all that git would go to from there. It returns what is in it after that.
func (l *look) gitDir(at, worktree string) contents {
	if !l.first(at + "/") {
		return l.now.dirs[at]
	}
	root, err := l.open(at)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoDirectory) && !l.now.shut[at] && !l.guard.known.shut[at] {
			l.errs = append(l.errs, notDisarmed(at, err))
		}
		return contents{}
	}
	defer root.Close()
	c, err := l.contents(root, at)
	if err == nil && !l.accept {
		c, err = l.judge(root, at, c)
	}
	if err != nil {
		l.errs = append(l.errs, notDisarmed(at, err))
	}
	l.now.dirs[at] = c
	if c.worktree != "" {
		worktree = c.worktree
	}
	l.follow(root, at, worktree, c)
	return c
}

// contents reads a git directory, unless it is known: it does not read files that only people change for each command.
func (l *look) contents(root *os.Root, at string) (c contents, err error) {
	now, fixed := "", true
	for _, name := range []string{"config", "config.worktree", "commondir", "hooks"} {
		fixed = fixed && l.guard.isFixed(filepath.Join(at, name))
	}
	if fixed {
		now = stamp(root)
		if old, was := l.guard.known.dirs[at]; was && old.stamp == now {
			return old, nil
		}
	}
	c, err = l.read(root, at)
	if errors.Is(err, fs.ErrPermission) && !l.accept {
		hooks, shut := l.enter(root, "hooks", filepath.Join(at, "hooks")) // makes it readable
		if shut == nil {
			hooks.Close()
			c, err = l.read(root, at)
		}
	}
	c.stamp = now
	return c, err
}

// judge disarms a git directory of what is new in it.
func (l *look) judge(root *os.Root, at string, c contents) (contents, error) {
	before := l.before(at, c)
	if c.rerere != before.rerere && c.rerere != "" && !l.guard.isFixed(filepath.Join(at, "config")) {
		if info, err := root.Lstat(mergeRR); err == nil && info.Size() > 0 {
			l.leave(root, filepath.Join(at, mergeRR), "it made git copy files with the next commit")
		}
	}
	fixed := func(name string) bool { return l.guard.isFixed(filepath.Join(at, filepath.FromSlash(name))) }
	what, moved, err := l.disarm(root, at, before, c, fixed)
	if len(what) == 0 {
		return c, err
	}
	for i, name := range moved {
		moved[i] = filepath.Join(at, filepath.FromSlash(name))
	}
	why := "what git runs there, outside the sandbox too, was changed: " + strings.Join(what, "; ") + ". "
	if len(moved) > 0 {
		why += "That is now in " + strings.Join(moved, ", ") + "; a person can bring it back"
	} else {
		why += "It is as it was again"
	}
	l.told = append(l.told, Disarmed{at, why})
	again, failed := l.read(root, at)
	return again, errors.Join(err, failed)
}

// before returns the earlier state of a git directory, also if it has been moved since.
func (l *look) before(at string, c contents) contents {
	old, was := l.guard.known.dirs[at]
	if was {
		return old
	}
	for place, other := range l.guard.known.dirs {
		if other.info != nil && os.SameFile(other.info, c.info) {
			if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
				return other
			}
		}
	}
	return contents{}
}

// follow goes where git goes from a git directory: to the one that it shares most with, to those of submodules and worktrees, to the
// repositories that its index names, and to those that are fetched from and pushed to.
func (l *look) follow(root *os.Root, at, worktree string, c contents) {
	if c.common != "" && l.inside(c.common) {
		l.gitDir(c.common, worktree)
	}
	if c.back != "" && filepath.Base(c.back) == ".git" && l.inside(c.back) {
		l.place(filepath.Dir(c.back))
	}
	for _, name := range []string{"modules", "worktrees"} {
		if sub := filepath.Join(at, name); !l.guard.isFixed(sub) {
			l.nested(root, name, sub, 0)
		}
	}
	l.index(root, at, worktree)
	for _, remote := range slices.Concat(c.remotes, alternates(root, at)) {
		place, ok := real(worktree, remote)
		for _, end := range []string{"", ".git"} {
			if ok && l.inside(place+end) {
				l.place(place + end)
			}
		}
	}
}

// alternates are the repositories whose objects are used too.
func alternates(root *os.Root, at string) (dirs []string) {
	f, err := load(root, "objects/info/alternates")
	if err != nil || f.lost {
		return nil
	}
	for text := range strings.Lines(string(f.data)) {
		if objects, ok := real(filepath.Join(at, "objects"), line([]byte(text))); ok {
			dirs = append(dirs, filepath.Dir(objects))
		}
	}
	return dirs
}

// nested looks at the git directories in a directory of them, which lies in another. The name of a submodule can have slashes.
func (l *look) nested(parent *os.Root, name, dir string, depth int) {
	const most = 10
	root, err := l.enter(parent, name, dir)
	if err != nil || depth > most {
		if depth > most || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoDirectory) {
			l.errs = append(l.errs, notDisarmed(dir, errors.Join(err, errMany)))
		}
		return
	}
	defer root.Close()
	for _, name := range directories(root) {
		at := filepath.Join(dir, name)
		if _, err := root.Lstat(filepath.Join(name, "HEAD")); err == nil {
			l.gitDir(at, at)
		} else if l.enough() {
			return
		} else {
			l.nested(root, name, at, depth+1)
		}
	}
}

// directories are the names of those in a directory.
func directories(root *os.Root) (names []string) {
	dir, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(-1)
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}

// index looks at the repositories that an index has as parts of the worktree. When that cannot be read, it looks everywhere.
func (l *look) index(root *os.Root, at, worktree string) {
	names, seen := []string{"index"}, map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		if names = names[1:]; seen[name] {
			continue
		}
		seen[name] = true
		data, err := readIndex(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		paths, shared, bad, unknown := gitlinks(data)
		if bad && err == nil && !l.accept {
			l.leave(root, filepath.Join(at, name), "it made git write files in git directories, or outside the worktree")
		}
		if err != nil || unknown != nil {
			l.walk(worktree)
			return
		}
		names = append(names, shared...)
		for _, p := range paths {
			if place := path.Clean(p); filepath.IsLocal(place) && l.inside(worktree) {
				l.place(filepath.Join(worktree, filepath.FromSlash(place)))
			}
		}
	}
}

// leave puts a file aside.
func (l *look) leave(root *os.Root, at, why string) {
	place, err := putAside(root, filepath.Base(at))
	if err != nil {
		l.errs = append(l.errs, notDisarmed(at, err))
		return
	}
	l.told = append(l.told, Disarmed{at, why + ". It is now " + filepath.Join(filepath.Dir(at), place)})
}

// maxIndex is the size of the largest index that is read.
const maxIndex = 1 << 30

func readIndex(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// readAll reads a regular file from its start.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, errIndex
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	if n < len(data) {
		return nil, errors.Join(errIndex, err)
	}
	return data, nil
}

// enough counts directories, and reports whether there were too many.
func (l *look) enough() bool {
	if l.walked++; l.walked == maxWalked {
		l.errs = append(l.errs, errMany)
	}
	return l.walked >= maxWalked
}

// look looks everywhere in a directory.
func (l *look) look(dir string) {
	if root, err := l.open(dir); err == nil { // it can be read now
		root.Close()
		l.walk(dir)
	}
}

// walk looks at all places below a directory.
func (l *look) walk(dir string) {
	if !l.inside(dir) || !l.first(dir+"/*") {
		return
	}
	_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case entry.Name() == ".git":
			return fs.SkipDir
		case l.enough():
			return fs.SkipAll
		}
		for _, sign := range []string{".git", "HEAD"} {
			if _, err := os.Lstat(filepath.Join(name, sign)); err == nil && l.place(name) {
				l.guard.noted[name] = true
				break
			}
		}
		return nil
	})
}
