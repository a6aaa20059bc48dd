package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is a file, a directory or a link of a walk.
type Entry struct {
	Path  string      // from the root of the workspace, with slashes; absolute if it lies outside
	Type  fs.FileMode // the type bits; a link is a link, wherever it leads
	Depth int         // 1 for what lies in the directory where the walk began

	top *top // where the walk opens what it comes to, while it runs
}

// Name is the last element of the path.
func (e Entry) Name() string { return path.Base(e.Path) }

// WalkOptions select the entries of a walk. The zero value: all that are not ignored.
type WalkOptions struct {
	Depth   int  // how deep; 0: to the ground
	Ignored bool // with the entries that ignore files exclude; .git is never walked
}

// maxEntries is the maximum of entries of one directory that a walk sorts. It reports more as an error.
const maxEntries = 100_000

// maxIgnoreFile is the size of the largest ignore file that is read.
const maxIgnoreFile = 1 << 20

// Walk yields the tree below a directory: parents before their entries, names sorted by bytes. It follows no link, and honors .gitignore and
// .ignore files. It reads directories in advance, several at a time; all of that is over when Walk returns. An error is about one directory,
// and the walk continues after it; after the error of ctx it ends.
//
// If name is a file, it is the only entry.
func (w *Workspace) Walk(ctx context.Context, name string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		p, err := w.readable(name)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer p.close()
		info, err := p.lstatOnly()
		if err != nil {
			yield(Entry{}, w.tell(name, err))
			return
		}
		walk := walk{boundary: w.boundary, tree: p.tree, ctx: ctx, options: o, yield: yield}
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
		start := &folder{rel: rel, depth: 1}
		if !o.Ignored {
			start.rules = p.rulesAbove(rel)
		}
		if walk.top, err = openTop(p.tree); err != nil {
			yield(Entry{}, w.tell(name, err))
			return
		}
		defer walk.top.close()
		defer walk.ahead.end()
		walk.in(start)
	}
}

type walk struct {
	*boundary
	tree           // in which it walks
	prefix  string // its directory, when that is not the root of the workspace
	top     *top
	ctx     context.Context
	options WalkOptions
	yield   func(Entry, error) bool
	ahead   ahead
}

// shown is a path of the tree as entries have it.
func (w *walk) shown(rel string) string {
	if w.prefix == "" {
		return rel
	}
	return filepath.Join(w.prefix, filepath.FromSlash(rel))
}

// in walks one directory and reports whether to go on.
func (w *walk) in(f *folder) bool {
	w.ahead.take(w, f)
	if err := w.ctx.Err(); err != nil {
		w.yield(Entry{}, err)
		return false
	}
	if f.err != nil && !w.yield(Entry{Path: w.shown(f.rel), Type: fs.ModeDir, Depth: f.depth - 1}, w.tell(cmp.Or(f.rel, "."), f.err)) {
		return false
	}
	items := f.items
	f.items = nil
	for _, item := range items {
		if err := w.ctx.Err(); err != nil {
			w.yield(Entry{}, err)
			return false
		}
		if !w.yield(item.entry, nil) || item.folder != nil && !w.in(item.folder) {
			return false
		}
	}
	return true
}

// folder is a directory that a walk will come to.
type folder struct {
	rel   string
	depth int       // of what lies in it
	rules ruleStack // of the directories above it

	items []item
	err   error
}

// item is an entry and, when the walk goes into it, its folder.
type item struct {
	entry  Entry
	folder *folder
}

// read finds what the walk comes to in a directory.
func (w *walk) read(f *folder) {
	var entries []fs.DirEntry
	if entries, f.err = w.list(f.rel); len(entries) == 0 {
		return
	}
	rules := f.rules
	if !w.options.Ignored {
		rules = rules.with(f.rel, w.rulesIn(f.rel, entries))
	}
	dir := filepath.Join(w.tree.dir, filepath.FromSlash(f.rel))
	prefix := f.rel
	if prefix != "" {
		prefix += "/"
	}
	f.items = make([]item, 0, len(entries))
	for _, entry := range entries {
		if w.ctx.Err() != nil {
			return
		}
		name := prefix + entry.Name()
		if entry.Name() == ".git" || rules.ignore(name, entry.IsDir()) || w.limits.Load().leaves(dir, entry.Name()) {
			continue
		}
		one := item{entry: Entry{Path: w.shown(name), Type: entry.Type(), Depth: f.depth, top: w.top}}
		if entry.IsDir() && (w.options.Depth == 0 || f.depth < w.options.Depth) {
			one.folder = &folder{rel: name, depth: f.depth + 1, rules: rules}
		}
		f.items = append(f.items, one)
	}
}

// list is the content of a directory, sorted. With too much in it, it is a part, and an error.
func (t tree) list(rel string) ([]fs.DirEntry, error) {
	d, err := t.openDir(cmp.Or(rel, "."))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return sorted(context.Background(), d, rel)
}

// openDir opens a directory through no link: one that was put in the way after a look would lead to what is hidden.
func (t tree) openDir(rel string) (*os.File, error) {
	rel = filepath.FromSlash(rel)
	return place{tree: t, rel: rel, abs: filepath.Join(t.dir, rel)}.openOnly(os.O_RDONLY | noBlock)
}

// list is the same, faster, and ends with the walk.
func (w *walk) list(rel string) ([]fs.DirEntry, error) {
	d, err := w.top.openDir(rel)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return sorted(w.ctx, d, rel)
}

func sorted(ctx context.Context, d *os.File, rel string) (entries []fs.DirEntry, err error) {
	for err == nil && len(entries) <= maxEntries {
		var some []fs.DirEntry
		some, err = d.ReadDir(min(4096, maxEntries+1-len(entries)))
		if entries = append(entries, some...); err == nil {
			err = ctx.Err()
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		err = nil
	case err == nil:
		entries = entries[:maxEntries]
		err = fmt.Errorf("%s has more than %d entries; the rest is left out", Quote(cmp.Or(rel, ".")), maxEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
