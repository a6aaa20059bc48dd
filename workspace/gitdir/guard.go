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
)

// Guard looks at the git repositories in some trees. It is safe for concurrent use.
type Guard struct {
	trees []string
	fixed []string

	mu     sync.Mutex
	noted  map[string]bool // directories that are or have a repository
	unseen map[string]bool // directories that may have one anywhere below them
	active int             // commands that run
	known  known
}

// known is what the repositories were like when they were looked at last.
type known struct {
	dirs  map[string]contents // by path of the git directory
	links map[string]file     // files and links named .git, by path
	shut  map[string]bool     // directories that could not be opened
}

// Disarmed is a repository that was kept from running something.
type Disarmed struct {
	Path string // the git directory, or the file that led to it
	Why  string // what it was to run, and where that is now
}

// New returns a guard of the repositories in the trees that commands can write, which are absolute paths without links. What lies
// in fixed cannot be changed by commands, and is left alone.
func New(trees, fixed []string) *Guard {
	return &Guard{trees: trees, fixed: fixed, noted: map[string]bool{}, unseen: map[string]bool{}}
}

// Note tells of a directory that somebody came to, with what is in it. The guard looks at it again if it has to do with a repository.
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

// Unseen tells of a directory of which nobody knows what is below it: it could not be looked into, or is not walked. The guard looks
// everywhere in it, once.
func (g *Guard) Unseen(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unseen[dir] = true
}

// unwalked begins the names of files that walks leave out as temporary ones. A directory of such a name is nobody's but a command's.
const unwalked = ".tenon-"

// Begin must be called before a command, and End after it. What is there when no command runs, is somebody's and stays as it is; what
// another command that runs has left by now is disarmed and told; what cannot be disarmed is for End.
func (g *Guard) Begin() []Disarmed {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, _ := g.look(g.active == 0)
	g.active++
	return found
}

// End disarms what has become of the repositories since Begin. The error says what could not be disarmed.
func (g *Guard) End() ([]Disarmed, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	return g.look(false)
}

// look goes through all that is known to have to do with a repository.
func (g *Guard) look(accept bool) ([]Disarmed, error) {
	l := look{guard: g, accept: accept, now: known{map[string]contents{}, map[string]file{}, map[string]bool{}}, seen: map[string]bool{}}
	l.reader.inside = l.inside
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
	return l.told, errors.Join(l.errs...)
}

// within reports whether a path is a directory or lies in it. Both are clean.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// inside reports whether a path lies in a tree that commands can write.
func (g *Guard) inside(path string) bool {
	return slices.ContainsFunc(g.trees, func(tree string) bool { return within(path, tree) })
}

// isFixed reports whether commands cannot change a path.
func (g *Guard) isFixed(path string) bool {
	return slices.ContainsFunc(g.fixed, func(fixed string) bool { return within(path, fixed) })
}

// errNoDirectory is about what lies in the way of a directory: a link, a file.
var errNoDirectory = errors.New("not a directory")

// open opens a directory in one of the trees, which is come to through no link. One that may not be read was somebody's when all is;
// otherwise it is made readable: a command can shut a directory that git works in nevertheless.
func (l *look) open(path string) (*os.Root, error) {
	tree := ""
	for _, t := range l.guard.trees {
		if within(path, t) && len(t) > len(tree) {
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
