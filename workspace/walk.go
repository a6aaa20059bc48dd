package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is a file, a directory or a link that a walk came to.
type Entry struct {
	Path  string      // from the root of the workspace, with slashes; absolute when it does not lie below it
	Type  fs.FileMode // the type bits; a link is a link, wherever it leads
	Depth int         // 1 for what lies in the directory where the walk began
}

// Name is the last element of the path.
func (e Entry) Name() string { return path.Base(e.Path) }

// WalkOptions say what a walk comes to. The zero value: all that is not ignored.
type WalkOptions struct {
	Depth   int  // how deep; 0: to the ground
	Ignored bool // also what ignore files exclude; .git is never walked
}

// maxEntries is how many entries of one directory a walk sorts; what is beyond is told as an error.
const maxEntries = 100_000

// maxIgnoreFile is the size from which an ignore file is not read.
const maxIgnoreFile = 1 << 20

// Walk goes through the tree below a directory: parents before what they hold, names sorted by bytes. It reads each directory
// when it comes to it, follows no link, and honours .gitignore and .ignore files. An error is about one directory, and the
// walk goes on behind it; after the error of ctx it ends.
//
// When name is a file, it is the only entry.
func (w *Workspace) Walk(ctx context.Context, name string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		p, err := w.readable(name)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer p.close()
		info, err := p.root.Stat(p.rel)
		if err != nil {
			yield(Entry{}, w.tell(name, err))
			return
		}
		walk := walk{Workspace: w, tree: p.tree, ctx: ctx, options: o, yield: yield}
		if p.dir != w.dir {
			walk.prefix = p.dir
		}
		rel := filepath.ToSlash(p.rel)
		if !info.IsDir() {
			yield(Entry{Path: walk.shown(rel), Type: info.Mode().Type()}, nil)
			return
		}
		if rel == "." {
			rel = ""
		}
		if !o.Ignored {
			walk.rules = p.rulesAbove(rel)
		}
		walk.in(rel, 1)
	}
}

type walk struct {
	*Workspace
	tree           // in which it walks
	prefix  string // its directory, when that is not the root of the workspace
	ctx     context.Context
	options WalkOptions
	yield   func(Entry, error) bool
	rules   ruleStack // of the directories from the top to the one that is walked
}

// shown is a path of the tree as entries have it.
func (w *walk) shown(rel string) string {
	if w.prefix == "" {
		return rel
	}
	return filepath.Join(w.prefix, filepath.FromSlash(rel))
}

// in walks one directory and reports whether to go on.
func (w *walk) in(rel string, depth int) bool {
	entries, err := w.list(rel)
	if err != nil && !w.yield(Entry{Path: w.shown(rel), Type: fs.ModeDir, Depth: depth - 1}, w.tell(cmp.Or(rel, "."), err)) {
		return false
	}
	if !w.options.Ignored {
		if list := w.rulesIn(rel, entries); len(list) > 0 {
			defer w.rules.push(rel, list)()
		}
	}
	dir := filepath.Join(w.tree.dir, filepath.FromSlash(rel))
	for _, entry := range entries {
		if err := w.ctx.Err(); err != nil {
			w.yield(Entry{}, err)
			return false
		}
		name := path.Join(rel, entry.Name())
		if entry.Name() == ".git" || w.rules.ignore(name, entry.IsDir()) || w.policy.hides(dir, entry.Name()) {
			continue
		}
		if !w.yield(Entry{Path: w.shown(name), Type: entry.Type(), Depth: depth}, nil) {
			return false
		}
		if entry.IsDir() && (w.options.Depth == 0 || depth < w.options.Depth) && !w.in(name, depth+1) {
			return false
		}
	}
	return true
}

// list is the content of a directory, sorted. With too much in it, it is a part, and an error.
func (t tree) list(rel string) ([]fs.DirEntry, error) {
	d, err := t.root.Open(cmp.Or(rel, "."))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && len(entries) == maxEntries {
		if more, _ := d.ReadDir(1); len(more) > 0 {
			err = fmt.Errorf("%s has more than %d entries; the rest is left out", cmp.Or(rel, "."), maxEntries)
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
