package guidance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// Options say where context files are, and how much of them is told.
type Options struct {
	Dir  string // working directory, absolute, links resolved
	Home string // home directory; empty: there is none

	// Personal is directories with the person's own files, absolute. The first that has one is taken, the others are not looked at.
	Personal []string

	Names   []string // of context files; nil: AGENTS.md, CLAUDE.md and TENON.md. Behind each comes its local variant, such as AGENTS.local.md
	MaxFile int      // bytes of one file; default 32 KiB
	MaxAll  int      // bytes of all; default 100 KiB

	// Refuse is asked about every file of the project, by its resolved path: its error keeps the file from being told. It must be fast.
	// Nil: nothing is refused.
	Refuse func(name string) error

	// Clean takes out of a text what must not be told, such as keys. Nil: nothing is taken out.
	Clean func(text string) string
}

// Names returns the names of context files that count where nothing else is said.
func Names() []string { return []string{"AGENTS.md", "CLAUDE.md", "TENON.md"} }

// The bounds where nothing else is said, in bytes.
const (
	defaultFile = 32 << 10
	defaultAll  = 100 << 10
	maxEntered  = 100 // directories below the working directory whose files count
	maxTold     = 150 // files
)

// Guide knows the context files of a place. It is safe for concurrent use.
type Guide struct {
	options  Options
	root     string   // of the repository; the working directory where there is none
	personal []string // as in the options, links resolved
	names    []string // with their variants

	mu      sync.Mutex
	entered []string // directories whose files count beside those from the root to the working directory, sorted
	dirs    map[string]listing
	files   map[string]*file
}

// New makes a guide. It looks at nothing but where the repository begins.
func New(o Options) *Guide {
	if o.Names == nil {
		o.Names = Names()
	}
	if o.MaxFile <= 0 {
		o.MaxFile = defaultFile
	}
	if o.MaxAll <= 0 {
		o.MaxAll = defaultAll
	}
	g := &Guide{options: o, root: Root(o.Dir), dirs: make(map[string]listing), files: make(map[string]*file)}
	for _, name := range o.Names {
		ext := filepath.Ext(name)
		g.names = append(g.names, name, strings.TrimSuffix(name, ext)+".local"+ext)
	}
	for _, dir := range o.Personal {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		g.personal = append(g.personal, dir)
	}
	return g
}

// Root is the top of the repository that a directory is in, or the directory itself: what is above a folder of no repository may be
// anybody's.
func Root(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// Enter says that a file was worked with: the context files of the directories that it lies in count from now on. Names are absolute; those
// outside the repository do nothing.
func (g *Guide) Enter(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		g.enter(filepath.Dir(name))
	}
}

// EnterDir is Enter for directories.
func (g *Guide) EnterDir(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		g.enter(filepath.Clean(name))
	}
}

// enter lets the files of a directory count, and of those above it.
func (g *Guide) enter(dir string) {
	for ; dir != g.root && below(g.root, dir); dir = filepath.Dir(dir) {
		at, there := slices.BinarySearch(g.entered, dir)
		if there || below(dir, g.options.Dir) || len(g.entered) >= maxEntered {
			continue
		}
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			g.entered = slices.Insert(g.entered, at, dir)
		}
	}
}

// Blocks is what is to be told now: the person's files, then those from the root of the repository down to the working directory, then those
// of directories that were entered; what a file imports stands behind it. What was told before says which directories a session that goes
// on in another process has entered.
func (g *Guide) Blocks(told []session.ContextBlock) []session.ContextBlock {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range told {
		if name := g.path(b.Name); name != "" {
			g.enter(filepath.Dir(name))
		}
	}
	t := telling{guide: g, left: g.options.MaxAll}
	for _, dir := range g.options.Personal {
		t.dir(dir)
		if len(t.blocks) > 0 {
			break
		}
	}
	for _, dir := range slices.Concat(g.above(), g.entered) {
		t.dir(dir)
	}
	if t.more {
		t.blocks = append(t.blocks, session.ContextBlock{
			Name: "context files", Text: "[There are more of them, for which there is no room: read those of the folders that you work in.]",
		})
	}
	return t.blocks
}

// above is the directories from the root to the working directory.
func (g *Guide) above() []string {
	var dirs []string
	for dir := g.options.Dir; ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == g.root || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(dirs)
	return dirs
}

// Name is what a file is called: its path from the root of the repository, or from the home directory with ~/.
func (g *Guide) Name(file string) string {
	if rel, err := filepath.Rel(g.root, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(g.options.Home, file); g.options.Home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// Tells reports whether a file is one of those that were told.
func (g *Guide) Tells(file string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.files[file]
	return f != nil && f.text != ""
}

// path is the file of the repository that a block is named after; empty: it can be none.
func (g *Guide) path(name string) string {
	rel := filepath.FromSlash(name)
	if !filepath.IsLocal(rel) || !slices.Contains(g.names, filepath.Base(rel)) {
		return ""
	}
	return filepath.Join(g.root, rel)
}

// telling puts together what is told.
type telling struct {
	guide  *Guide
	blocks []session.ContextBlock
	told   []*file
	left   int  // bytes
	more   bool // there are files for which there is no room
}

func (t *telling) dir(dir string) {
	for _, name := range t.guide.list(dir) {
		t.file(filepath.Join(dir, name), 0)
	}
}

// maxDepth is how deep imports may go.
const maxDepth = 5

// file tells a file and what it imports, unless it was told already, by whatever name. Where there is no room any more it looks at none: files
// import each other, and would be very many.
func (t *telling) file(name string, depth int) {
	if t.left <= 0 || len(t.told) == maxTold {
		t.more = true
		return
	}
	f := t.guide.load(name)
	if f == nil || f.text == "" || slices.ContainsFunc(t.told, f.same) {
		return
	}
	t.told = append(t.told, f)
	text, cut := f.text, f.cut
	if len(text) > t.left {
		text = head(text, t.left)
		cut += int64(len(f.text) - len(text))
	}
	t.left -= len(text)
	b := session.ContextBlock{Name: t.guide.Name(name), Text: text, Cut: cut}
	if cut > 0 {
		b.Text += fmt.Sprintf("\n[%d of %d bytes are left out here: read the file where you need them]", cut, int64(len(text))+cut)
	}
	t.blocks = append(t.blocks, b)
	if depth == maxDepth {
		return
	}
	for _, path := range f.imports {
		t.file(path, depth+1)
	}
}

// below reports whether a name is a directory or lies in it.
func below(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// fresh reports whether what was known of a file or directory still holds.
func fresh(before, now fs.FileInfo) bool {
	return before != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}
