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
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Options say where context files are, and how much of them the model sees.
type Options struct {
	Dir  string // working directory, absolute, links resolved
	Home string // home directory; empty: there is none

	// Personal lists directories with the person's own files, absolute. The guide uses the first directory that has one and ignores the others.
	Personal []string

	Names   []string // of context files; nil: AGENTS.md, CLAUDE.md and TENON.md. Each is followed by its local variant, such as AGENTS.local.md
	MaxFile int      // bytes of one file; default 32 KiB

	// Refuse checks the resolved path of every file of the project. If it returns an error, the model does not see the file. It must be
	// fast. Nil: the guide refuses no file.
	Refuse func(name string) error

	// Clean removes secrets, such as keys, from a text. Nil: the guide removes nothing.
	Clean func(text string) string
}

// Names returns the default names of context files.
func Names() []string { return []string{"AGENTS.md", "CLAUDE.md", "TENON.md"} }

// Default bounds and limits.
const (
	defaultFile = 32 << 10 // bytes
	maxEntered  = 100      // directories below the working directory whose files count
	maxTold     = 150      // files
)

// Guide knows the context files of a working directory. It is safe for concurrent use.
type Guide struct {
	options  Options
	root     string   // of the repository; outside of a repository, the working directory
	personal []string // as in the options, links resolved
	names    []string // with their variants

	mu      sync.Mutex
	entered []string // directories whose files count in addition to those from the root to the working directory, sorted
	dirs    map[string]listing
	files   map[string]*file
	told    map[string]bool // files that the last blocks showed, in whole or in part
}

// New returns a guide. It resolves the links of personal directories and finds the root of the repository, but reads no file.
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

// Root returns the root of the repository that contains a directory. Outside of a repository it returns the directory itself, because
// another person may own its parents.
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

// Enter adds the directories of files that a tool has used: their context files count from now on. Names are absolute. Enter ignores names
// outside the repository.
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

// enter adds a directory and its parents, up to the root.
func (g *Guide) enter(dir string) {
	for ; dir != g.root && paths.Inside(g.root, dir); dir = filepath.Dir(dir) {
		at, there := slices.BinarySearch(g.entered, dir)
		if there || paths.Inside(dir, g.options.Dir) || len(g.entered) >= maxEntered {
			continue
		}
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			g.entered = slices.Insert(g.entered, at, dir)
		}
	}
}

// Blocks returns the context blocks that the model should see now. The person's files are first. The files from the root of the repository
// down to the working directory follow, then those of entered directories. The imports of a file follow the file. All blocks share
// most bytes, and later files get their share first. The blocks that the model saw before name the directories that a resumed
// session has entered.
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
			Name: "context files", Text: "[More context files exist, but they do not fit: read those of the directories that you work in.]",
		}})
	}
	return slices.Concat(blocks...)
}

// found returns the context files that count, without their imports, the farthest first.
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

// above returns the directories from the root to the working directory.
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

// Name returns the name of a file for the model: its path relative to the root of the repository, or to the home directory with ~/.
func (g *Guide) Name(file string) string {
	if rel, ok := paths.Rel(g.root, file); ok {
		return filepath.ToSlash(rel)
	}
	if rel, ok := paths.Rel(g.options.Home, file); ok {
		return "~/" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// This method reports whether the last blocks show a file, in whole or in part.
func (g *Guide) Tells(file string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.told[file]
}

// path returns the file of the repository with the name of a block. If the name cannot be that of a context file, it returns an empty path.
func (g *Guide) path(name string) string {
	rel := filepath.FromSlash(name)
	if !filepath.IsLocal(rel) || !slices.Contains(g.names, filepath.Base(rel)) {
		return ""
	}
	return filepath.Join(g.root, rel)
}

// telling builds the blocks for the model.
type telling struct {
	guide *Guide
	taken []*file
	left  int  // bytes
	more  bool // files exist that do not fit
}

// take reports whether the model should see a file: it has text, and no earlier file is the same under another name.
func (t *telling) take(f *file) bool {
	if f == nil || f.text == "" || slices.ContainsFunc(t.taken, f.same) {
		return false
	}
	t.taken = append(t.taken, f)
	return true
}

const (
	maxDepth = 5       // of imports
	leastOf  = 200     // bytes of a file: fewer are useless
	maxNotes = 2 << 10 // bytes of notes about files that do not fit
)

// tell returns the blocks of a taken file and of its imports.
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
		b.Text += fmt.Sprintf("\n[%d of %d bytes are omitted here: read the file if you need them]", cut, int64(len(text))+cut)
	}
	t.left -= len(b.Text)
	return append([]session.ContextBlock{b}, t.imports(f, depth+1)...)
}

// imports returns the blocks of the imports of a file. If there is no space left, it loads no file, because files can import each other
// endlessly.
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

// fresh reports whether a file or directory is unchanged.
func fresh(before, now fs.FileInfo) bool {
	return before != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}
