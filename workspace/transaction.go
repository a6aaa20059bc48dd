package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// editor changes files for a session.
type editor struct {
	*boundary
	shared  *Shared
	kept    contents.Store
	changed func(ctx context.Context, changes []Change) error

	temp  string          // begins the names of temporary files
	swept map[string]bool // directories without files that an earlier process left; guarded by writing of shared; nil: none is swept
	fail  func() error    // lets a step of a change fail, in tests
}

// transaction is the edits of one Apply before the first change of a file.
type transaction struct {
	*editor
	ctx   context.Context
	ops   []*op
	dirs  []place          // that are made although no edit says so, parents first
	mode  fs.FileMode      // that they will have
	made  map[string]bool  // absolute paths of directories that will be there: dirs, and those of edits
	shut  map[string]bool  // absolute paths of directories that are closed now, or will be
	going map[string]bool  // absolute paths that are removed or moved away
	temps map[string]place // by absolute path: removed in the end
}

// op is one edit.
type op struct {
	*Edit
	at, from      place
	old           fs.FileInfo // of the place; nil: nothing is there
	temp          *place      // the staged file
	same          bool        // the content is right already
	before, after *State
	moved         *State // what lay at from
}

func (o *op) removes() bool { return o.Data == nil && o.From == "" && o.State == nil }

// makesDir reports whether the path is to be a directory.
func (o *op) makesDir() bool { return o.State != nil && o.State.Mode.IsDir() }

// replaces reports whether the path is a directory and will be something else, or the other way round: then it is removed first.
func (o *op) replaces() bool {
	return o.State != nil && o.old != nil && o.old.IsDir() != o.State.Mode.IsDir()
}

// closed reports whether the path is a directory in which nothing can be changed, and that is to become something else: it is opened first.
func (o *op) closed() bool {
	return o.old != nil && o.old.IsDir() && shut(o.old.Mode()) && (o.removes() || o.State != nil)
}

// closes reports whether nothing can be changed in the directory that the path will be.
func (o *op) closes() bool { return o.makesDir() && shut(o.State.Mode) }

func shut(mode fs.FileMode) bool { return mode&0o300 != 0o300 }

// prepare judges the paths and stages the contents.
func (t *transaction) prepare(edits []Edit) error {
	t.made, t.shut, t.going, t.temps = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]place{}
	taken := map[string]bool{}
	for i := range edits {
		o, err := t.judgeEdit(&edits[i])
		if o != nil {
			t.ops = append(t.ops, o) // to be closed
		}
		if err != nil {
			return err
		}
		for _, p := range []place{o.at, o.from} {
			if p.abs == "" {
				continue
			}
			if taken[paths.Key(p.abs)] {
				return fmt.Errorf("%s is changed twice at once; make one change of it", Quote(t.Rel(p.abs)))
			}
			taken[paths.Key(p.abs)] = true
		}
		if o.removes() || o.replaces() {
			t.going[o.at.abs] = true
		} else if o.From != "" {
			t.going[o.from.abs] = true
		}
		if o.makesDir() {
			t.made[o.at.abs] = true
		}
		if o.closed() || o.closes() {
			t.shut[o.at.abs] = true
		}
	}
	for _, o := range t.ops {
		if err := t.ctx.Err(); err != nil {
			return context.Cause(t.ctx)
		}
		if err := t.stage(o); err != nil {
			return t.tell(o.Path, err)
		}
	}
	return nil
}

// judgeEdit finds the places of an edit.
func (t *transaction) judgeEdit(e *Edit) (_ *op, err error) {
	o := &op{Edit: e}
	if o.removes() || o.State != nil || o.From != "" {
		o.at, err = t.entry(e.Path)
	} else {
		o.at, err = t.place(e.Path)
	}
	if err != nil {
		return o, err
	}
	if e.Exact && o.at.abs != filepath.Clean(e.Path) {
		return o, fmt.Errorf("%s leads to %s now, which does not change", Quote(e.Path), Quote(o.at.abs))
	}
	if e.From != "" {
		if o.from, err = t.entry(e.From); err != nil {
			return o, err
		}
	}
	if err := t.inScope(o); err != nil {
		return o, err
	}
	o.old, err = o.at.lstatOnly()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		o.old, err = nil, nil
	}
	if err != nil {
		return o, t.tell(e.Path, err)
	}
	return o, nil
}

// stage refuses an impossible edit, and writes the new content to a temporary file.
func (t *transaction) stage(o *op) (err error) {
	switch {
	case o.removes():
		return t.removable(o)
	case o.State != nil:
		return t.stageState(o)
	case o.From != "":
		return t.stageMove(o)
	case o.old == nil:
		return t.stageContent(o, nil)
	}
	if err := o.at.writable(o.old); err != nil {
		return err
	}
	return t.stageContent(o, o.old)
}

// stageState prepares to give a place a state.
func (t *transaction) stageState(o *op) error {
	if o.old != nil {
		if err := t.removable(o); err != nil {
			return err
		}
	}
	if o.makesDir() {
		after := *o.State
		o.after = &after
		return t.missing(o.at)
	}
	if o.old != nil && o.old.Mode().IsRegular() && o.State.Mode.IsRegular() && o.old.Size() == o.State.Size {
		f, err := o.at.openRegular()
		if err != nil {
			return err
		}
		defer f.Close()
		hash := sha256.New()
		if _, err := io.Copy(hash, f); err != nil {
			return err
		}
		if o.same = hex.EncodeToString(hash.Sum(nil)) == o.State.Hash; o.same {
			after := *o.State
			o.after = &after
			return nil
		}
	}
	return t.stageContent(o, o.old)
}

// removable refuses a file that cannot be restored, such as a pipe.
func (t *transaction) removable(o *op) error {
	switch {
	case o.old == nil:
		return &fs.PathError{Op: "remove", Path: o.at.abs, Err: fs.ErrNotExist}
	case o.at.rel == ".":
		return &DirectoryError{o.Path}
	case o.old.IsDir() || o.old.Mode()&fs.ModeSymlink != 0:
		return nil
	}
	return regular(o.Path, o.old.Mode())
}

func (t *transaction) stageMove(o *op) error {
	if o.old != nil && !t.going[o.at.abs] {
		return &fs.PathError{Op: "rename", Path: o.at.abs, Err: fs.ErrExist}
	}
	info, err := o.from.lstatOnly()
	if err != nil {
		return t.tell(o.From, err)
	}
	if info.Mode()&fs.ModeSymlink == 0 || o.Data != nil {
		if err := regular(o.From, info.Mode()); err != nil {
			return err
		}
	}
	if o.Data == nil && o.at.root == o.from.root {
		return t.missing(o.at)
	}
	return t.stageContent(o, info)
}

// parents looks again which directories are missing. Another transaction may have made some since, or removed some. writing is held.
func (t *transaction) parents() error {
	for _, d := range t.dirs {
		delete(t.made, d.abs)
	}
	t.dirs = nil
	for _, o := range t.ops {
		if o.removes() || o.same {
			continue
		}
		if err := t.missing(o.at); err != nil {
			return t.tell(o.Path, err)
		}
	}
	return nil
}

// base is the nearest directory above a place that is there, is open and stays.
func (t *transaction) base(p place) string {
	for dir := filepath.Dir(p.rel); dir != "."; dir = filepath.Dir(dir) {
		info, err := p.root.Lstat(dir)
		if abs := filepath.Join(p.dir, dir); err == nil && info.IsDir() && !t.going[abs] && !t.shut[abs] {
			return dir
		}
	}
	return "."
}

// temporary is a name for a file that will be put at a place, or that was there.
func (t *transaction) temporary(p place) place {
	rel := filepath.Join(t.base(p), t.temp+rand.Text())
	temp := place{tree: p.tree, rel: rel, abs: filepath.Join(p.dir, rel)}
	t.temps[temp.abs] = temp
	t.shared.underWay.Store(temp.abs, true)
	return temp
}

// tempPrefix begins the names of temporary files.
const tempPrefix = ".tenon-"

// missing notes the directories that must be made for a place, and learns what mode they will have.
func (t *transaction) missing(p place) error {
	var dirs []place
	for dir := filepath.Dir(p.rel); dir != "."; dir = filepath.Dir(dir) {
		d := place{tree: p.tree, rel: dir, abs: filepath.Join(p.dir, dir)}
		info, err := p.root.Lstat(dir)
		switch {
		case err == nil && info.IsDir() && !t.going[d.abs]:
			dir = "."
			continue
		case err == nil && !t.going[d.abs]:
			return &fs.PathError{Op: "mkdir", Path: d.abs, Err: errNoDirectory}
		}
		if !t.made[d.abs] {
			t.made[d.abs] = true
			dirs = append(dirs, d)
		}
	}
	if len(dirs) > 0 && t.mode == 0 {
		probe := t.temporary(p)
		if err := probe.mkdir(); err != nil {
			return err
		}
		info, err := probe.lstatOnly()
		if err = errors.Join(err, probe.remove()); err != nil {
			return err
		}
		t.mode = info.Mode()
	}
	slices.Reverse(dirs)
	t.dirs = append(t.dirs, dirs...)
	return nil
}

// look calls the checks and records the states now. No tool of the directory changes files meanwhile.
func (t *transaction) look() error {
	for _, o := range t.ops {
		if o.Check != nil {
			if err := o.Check(); err != nil {
				return err
			}
		}
	}
	if err := t.parents(); err != nil {
		return err
	}
	for _, o := range t.ops {
		var err error
		if o.before, err = t.state(o.Path, o.at); err != nil {
			return err
		}
		t.sweep(o.at)
		t.sweep(o.from)
		if o.From != "" {
			if o.moved, err = t.state(o.From, o.from); err != nil {
				return err
			}
			if o.Data == nil {
				after := *o.moved
				o.after = &after
			}
		}
	}
	return nil
}

// announce reports the changes before they are made.
func (t *transaction) announce() error {
	if err := t.ctx.Err(); err != nil {
		return context.Cause(t.ctx)
	}
	if t.changed == nil {
		return nil
	}
	changes := slices.DeleteFunc(t.changes(), func(c Change) bool { return t.limits.Load().temporary(c.Path) })
	if len(changes) == 0 {
		return nil
	}
	return t.changed(t.ctx, changes)
}

func (t *transaction) changes() []Change {
	var out []Change
	for _, d := range t.dirs {
		out = append(out, Change{Path: d.abs, After: &State{Mode: t.mode}})
	}
	for _, o := range t.ops {
		if o.From != "" {
			out = append(out, Change{Path: o.from.abs, Before: o.moved})
		}
		if o.before != nil || o.after != nil {
			out = append(out, Change{Path: o.at.abs, Before: o.before, After: o.after})
		}
	}
	return out
}

// clean removes the temporary files and releases the places.
func (t *transaction) clean() {
	for abs, temp := range t.temps {
		_ = temp.remove()
		t.shared.underWay.Delete(abs)
	}
	for _, o := range t.ops {
		o.at.close()
		o.from.close()
	}
}
