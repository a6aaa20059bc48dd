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
	told    map[string]bool // files of which something was told last
}

// New makes a guide. It looks at nothing but where the repository begins.
func New(o Options) *Guide {
	if o.Names == nil {
		o.Names = Names()
	}
	if o.MaxFile <= 0 {
		o.MaxFile = defaultFile
	}
	g := &Guide{options: o, root: Root(o.Dir), dirs: make(map[string]listing), files: make(map[string]*file), told: make(map[string]bool)}
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
// of directories that were entered; what a file imports stands behind it. All of them may have so many bytes; where that is not enough, the
// last have it. What was told before says which directories a session that goes on in another process has entered.
func (g *Guide) Blocks(told []session.ContextBlock, most int) []session.ContextBlock {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range told {
		if name := g.path(b.Name); name != "" {
			g.enter(filepath.Dir(name))
		}
	}
	names := g.found()
	far := max(0, len(names)-maxTold)
	t := telling{guide: g, left: most, more: far > 0}
	var files []string
	for _, name := range names[far:] {
		if t.take(g.load(name)) {
			files = append(files, name)
		}
	}
	clear(g.told)
	blocks := make([][]session.ContextBlock, len(files), len(files)+1)
	for i, name := range slices.Backward(files) {
		blocks[i] = t.tell(name, 0)
	}
	if t.more {
		blocks = append(blocks, []session.ContextBlock{{
			Name: "context files", Text: "[There are more of them, for which there is no room: read those of the folders that you work in.]",
		}})
	}
	return slices.Concat(blocks...)
}

// found is the context files that count, but for what they import, the farthest first.
func (g *Guide) found() []string {
	var names []string
	for _, dir := range g.options.Personal {
		names = g.list(dir)
		if slices.ContainsFunc(names, func(name string) bool { f := g.load(name); return f != nil && f.text != "" }) {
			break
		}
	}
	for _, dir := range slices.Concat(g.above(), g.entered) {
		names = append(names, g.list(dir)...)
	}
	return names
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

// Tells reports whether a file is one of those that were told, in whole or in part.
func (g *Guide) Tells(file string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.told[file]
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
	guide *Guide
	taken []*file
	left  int  // bytes
	more  bool // there are files of which nothing is told, for want of room
}

// take reports whether a file is to be told: it says something, and was not taken already, by whatever name.
func (t *telling) take(f *file) bool {
	if f == nil || f.text == "" || slices.ContainsFunc(t.taken, f.same) {
		return false
	}
	t.taken = append(t.taken, f)
	return true
}

const (
	maxDepth = 5       // how deep imports may go
	leastOf  = 200     // bytes of a file: fewer are of no use
	maxNotes = 2 << 10 // bytes of notes about files for which there is no room
)

// tell tells a file that was taken, and what it imports.
func (t *telling) tell(name string, depth int) []session.ContextBlock {
	f := t.guide.files[name]
	if t.left <= -maxNotes {
		t.more = true
		return nil
	}
	text, cut := f.text, f.cut
	if len(text) > t.left {
		if t.left < leastOf {
			text = ""
		}
		text = head(text, t.left)
		cut += int64(len(f.text) - len(text))
	}
	t.guide.told[name] = text != ""
	b := session.ContextBlock{Name: t.guide.Name(name), Text: text, Cut: cut}
	if cut > 0 {
		b.Text += fmt.Sprintf("\n[%d of %d bytes are left out here: read the file where you need them]", cut, int64(len(text))+cut)
	}
	t.left -= len(b.Text)
	return append([]session.ContextBlock{b}, t.imports(f, depth+1)...)
}

// imports tells what a file imports. Where there is no room any more it looks at none: files import each other, and would be very many.
func (t *telling) imports(f *file, depth int) (blocks []session.ContextBlock) {
	if depth > maxDepth {
		return nil
	}
	for _, name := range f.imports {
		if t.left < leastOf || len(t.taken) >= maxTold {
			t.more = true
			break
		}
		if t.take(t.guide.load(name)) {
			blocks = append(blocks, t.tell(name, depth)...)
		}
	}
	return blocks
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
