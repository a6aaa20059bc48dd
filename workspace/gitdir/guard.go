package gitdir

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Guard looks at the git repositories in some trees. It is safe for concurrent use.
type Guard struct {
	trees []string
	fixed []string
	git   []string

	mu     sync.Mutex
	noted  map[string]bool // directories that are or have a repository
	unseen map[string]bool // directories that may have one anywhere below them
	active int             // commands that run
	known  known
	mine   map[string]bool // git directories that were there at the first look
}

// known is the state of the repositories at the last look.
type known struct {
	dirs  map[string]contents // by path of the git directory
	links map[string]file     // files and links named .git, by path
	shut  map[string]bool     // directories that could not be opened
}

// Disarmed is a repository with a change that the guard reverted, because git would have executed it.
type Disarmed struct {
	Path string // the git directory, or the file that led to it
	Why  string // what git would have executed, and where it is now
}

// New returns a guard of the repositories in the trees that commands can write, which are absolute paths without links. Commands cannot change
// files in fixed, and the guard leaves them alone. The same holds for the settings and hooks in git, which are git directories.
func New(trees, fixed []string, git ...string) *Guard {
	return &Guard{trees: trees, fixed: fixed, git: git, noted: map[string]bool{}, unseen: map[string]bool{}}
}

// Note reports a directory and its entries. The guard looks at it again if it belongs to a repository.
func (g *Guard) Note(dir string, entries []fs.DirEntry) {
	var head, objects, refs, common bool
	var git bool
	for _, entry := range entries {
		switch name := entry.Name(); {
		case strings.EqualFold(name, ".git"):
			git = true
		case strings.HasPrefix(name, unwalked) && entry.IsDir():
			g.Unseen(filepath.Join(dir, name))
		case strings.EqualFold(name, "HEAD"):
			head = true
		case strings.EqualFold(name, "objects"):
			objects = true
		case strings.EqualFold(name, "refs"):
			refs = true
		case strings.EqualFold(name, "commondir"):
			common = true
		}
	}
	if git || head && (common || objects && refs) {
		g.mu.Lock()
		g.noted[dir] = true
		g.mu.Unlock()
	}
}

// Sign reports whether Note may take something from an entry.
func Sign(entry fs.DirEntry) bool {
	name := entry.Name()
	return strings.HasPrefix(name, unwalked) || slices.ContainsFunc([]string{".git", "HEAD", "objects", "refs", "commondir"}, func(sign string) bool {
		return strings.EqualFold(name, sign)
	})
}

// GitDirs returns those git directories that commands can write: the given ones, and those of a person, which the guard saw at its first look and
// at its last one: commands cannot remove them.
func (g *Guard) GitDirs(own []string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Clone(own)
	for at, c := range g.known.dirs {
		if c.info != nil && g.mine[at] && !g.isFixed(at) && filepath.Base(at) == ".git" {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Doubt reports that commands could change a path of fixed after all. The guard looks at it from now on.
func (g *Guard) Doubt(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	changed := func(fixed string) bool { return paths.Inside(path, fixed) }
	g.fixed, g.git = slices.DeleteFunc(slices.Clone(g.fixed), changed), slices.DeleteFunc(slices.Clone(g.git), changed)
	for at := range g.known.dirs {
		if paths.Inside(path, at) {
			delete(g.known.dirs, at)
		}
	}
}

// Unseen reports a directory whose files are not known: it could not be opened, or is not walked. The guard looks everywhere in it, once.
func (g *Guard) Unseen(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unseen[dir] = true
}

// unwalked begins the names of files that walks leave out as temporary ones. Only a command makes a directory with such a name.
const unwalked = ".tenon-"

// Begin must be called before a command, and End after it. The state when no command runs belongs to the person, and stays. Begin disarms and
// returns the changes that another running command has made by now; End tries again where that fails.
func (g *Guard) Begin() []Disarmed {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, _ := g.look(g.active == 0)
	g.active++
	return found
}

// End disarms the changes of the repositories since Begin. The error names the repositories that it could not disarm.
func (g *Guard) End() ([]Disarmed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	return g.look(false)
}

// look goes through everything that is known to belong to a repository.
func (g *Guard) look(accept bool) ([]Disarmed, error) {
	l := look{guard: g, accept: accept, now: known{map[string]contents{}, map[string]file{}, map[string]bool{}}, seen: map[string]bool{}}
	l.reader = reader{l.inside, new(int)}
	for _, tree := range g.trees {
		l.place(tree)
	}
	for _, dir := range slices.Sorted(maps.Keys(g.noted)) {
		if !l.place(dir) {
			delete(g.noted, dir)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(g.unseen)) {
		l.look(dir)
	}
	clear(g.unseen)
	g.known = l.now
	if g.mine == nil {
		g.mine = map[string]bool{}
		for at := range l.now.dirs {
			g.mine[at] = true
		}
		sweep(g.mine)
	}
	return l.told, errors.Join(l.errs...)
}

// inside reports whether a path lies in a tree that commands can write.
func (g *Guard) inside(path string) bool {
	_, ok := paths.In(g.trees, path)
	return ok
}

// isFixed reports whether commands cannot change a path. They fill most directories in a git directory, such as refs, and can make a repository there.
func (g *Guard) isFixed(path string) bool {
	_, fixed := paths.In(g.fixed, path)
	return fixed || slices.ContainsFunc(g.git, func(git string) bool {
		rel, ok := paths.Rel(git, path)
		parts := strings.Split(filepath.ToSlash(rel), "/")
		if parts[0] == "worktrees" && len(parts) > 2 {
			parts = parts[2:]
		}
		return ok && slices.Contains([]string{".", "worktrees", "modules", "hooks", "config", "config.worktree", "commondir"}, parts[0])
	})
}

// errNoDirectory reports a link or a file in the place of a directory.
var errNoDirectory = errors.New("not a directory")

// open opens a directory in one of the trees, through no link. If the directory cannot be read, it stays so if it was so at the first look;
// otherwise open makes it readable: git can work in a directory that a command has closed.
func (l *look) open(path string) (*os.Root, error) {
	tree := ""
	for _, t := range l.guard.trees {
		if paths.Inside(t, path) && len(t) > len(tree) {
			tree = t
		}
	}
	if tree == "" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	at, err := os.OpenRoot(tree)
	if err != nil {
		return nil, err
	}
	rel, _ := filepath.Rel(tree, path)
	if rel == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		tree = filepath.Join(tree, part)
		next, err := l.enter(at, part, tree)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enter opens a directory in another one, unless it is a link.
func (l *look) enter(at *os.Root, name, path string) (*os.Root, error) {
	before, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNoDirectory}
	}
	next, err := at.OpenRoot(name)
	if errors.Is(err, fs.ErrPermission) {
		if l.accept || l.guard.known.shut[path] {
			l.now.shut[path] = true
			return nil, err
		}
		if err = at.Chmod(name, before.Mode().Perm()|0o700); err == nil {
			next, err = at.OpenRoot(name)
		}
	}
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		next.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNoDirectory}
	}
	return next, nil
}
