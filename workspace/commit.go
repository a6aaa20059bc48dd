package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// commit is a transaction that changes files.
type commit struct {
	*transaction
	back []func() error // reverts the steps so far, the last one first
}

// do puts everything in its place, or takes it back.
func (t *commit) do() error {
	err := t.steps()
	if err == nil {
		t.sync()
		t.shared.noteOwn(t.changes)
		return nil
	}
	var lost error
	for i := len(t.back) - 1; i >= 0; i-- {
		lost = errors.Join(lost, t.back[i]())
	}
	if lost != nil {
		clear(t.temps) // they may be all that is left
		return fmt.Errorf("%w; and what was done before could not be taken back: %w", err, lost)
	}
	return err
}

// steps opens directories, removes, makes directories, parents first, and puts files into them. What closes a directory comes last.
func (t *commit) steps() error {
	if err := t.open(); err != nil {
		return err
	}
	deepest := slices.SortedStableFunc(slices.Values(t.ops), func(a, b *op) int { return cmp.Compare(len(b.at.abs), len(a.at.abs)) })
	dirs := slices.Clone(t.dirs)
	for _, o := range deepest {
		if o.removes() || o.replaces() {
			if err := t.remove(o); err != nil {
				return t.tell(o.Path, err)
			}
		}
		if o.makesDir() && (o.old == nil || o.replaces()) {
			dirs = append(dirs, o.at)
		}
	}
	slices.SortStableFunc(dirs, func(a, b place) int { return cmp.Compare(len(a.abs), len(b.abs)) })
	for _, d := range dirs {
		err := t.mkdir(d)
		if errors.Is(err, fs.ErrExist) && t.isParent(d) {
			continue // another process made it meanwhile
		}
		if err != nil {
			return t.tell(d.abs, err)
		}
	}
	for _, o := range t.ops {
		if !o.removes() && !o.makesDir() {
			if err := t.put(o); err != nil {
				return t.tell(o.Path, err)
			}
		}
	}
	for _, o := range deepest {
		if o.makesDir() {
			if err := t.chmod(o); err != nil {
				return t.tell(o.Path, err)
			}
		}
	}
	return nil
}

// open opens the directories that are closed, parents first.
func (t *commit) open() error {
	closed := slices.DeleteFunc(slices.Clone(t.ops), func(o *op) bool { return !o.closed() })
	slices.SortStableFunc(closed, func(a, b *op) int { return cmp.Compare(len(a.at.abs), len(b.at.abs)) })
	for _, o := range closed {
		mode := o.old.Mode() & permissions
		if err := t.step(
			func() error { return o.at.chmod(mode | 0o700) },
			func() error { return o.at.chmod(mode) },
		); err != nil {
			return t.tell(o.Path, err)
		}
	}
	return nil
}

// step does something, and notes how to take it back.
func (t *commit) step(do, back func() error) error {
	if t.fail != nil {
		if err := t.fail(); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	t.back = append(t.back, back)
	return nil
}

// remove takes away a file or an empty directory. A file stays under a temporary name until all is done.
func (t *commit) remove(o *op) error {
	if o.before != nil && o.before.Mode.IsDir() {
		return t.step(
			func() error { return o.at.remove() },
			func() error {
				return errors.Join(o.at.mkdir(), o.at.chmod(o.before.Mode&permissions))
			})
	}
	return t.rename(o.at, t.temporary(o.at))
}

// rename moves what is at one place to another in the same tree.
func (t *commit) rename(from, to place) error {
	return t.step(
		func() error { return from.renameTo(to) },
		func() error { return to.renameTo(from) })
}

func (t *commit) mkdir(d place) error {
	return t.step(
		func() error { return d.mkdir() },
		func() error {
			err := d.remove()
			if err != nil && inUse(d) {
				return nil // another transaction or process puts files there
			}
			return err
		})
}

// isParent reports whether a place is a directory that no edit names.
func (t *commit) isParent(d place) bool {
	info, err := d.lstatOnly()
	return err == nil && info.IsDir() && slices.ContainsFunc(t.dirs, func(o place) bool { return o.abs == d.abs })
}

// inUse reports whether a directory has entries.
func inUse(d place) bool {
	entries, err := d.list(d.rel)
	return err == nil && len(entries) > 0
}

// chmod gives a place the mode that it once had.
func (t *commit) chmod(o *op) error {
	return t.step(
		func() error { return o.at.chmod(o.State.Mode & permissions) },
		func() error {
			if o.before == nil {
				return nil // it will be removed
			}
			return o.at.chmod(o.before.Mode & permissions)
		})
}

// put moves a staged or renamed file to its place.
func (t *commit) put(o *op) error {
	switch {
	case o.same:
		return t.chmod(o)
	case o.temp == nil:
		return t.rename(o.from, o.at)
	case o.From != "":
		if err := t.rename(o.from, t.temporary(o.from)); err != nil {
			return err
		}
	}
	taken := o.before != nil && !t.going[o.at.abs]
	if taken && len(t.ops) > 1 {
		if err := t.backUp(o); err != nil {
			return err
		}
	}
	return t.step(
		func() error { return o.temp.renameTo(o.at) },
		func() error {
			if taken {
				return nil // the copy is put over it
			}
			return o.at.remove()
		})
}

// backUp keeps what is replaced under a second name, so that there is no moment without the file. Where there are no hard links, it is moved.
func (t *commit) backUp(o *op) error {
	copied := t.temporary(o.at)
	err := t.step(
		func() error { return o.at.linkTo(copied) },
		func() error { return copied.renameTo(o.at) })
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return t.rename(o.at, copied)
	}
	return err
}

// sync makes the renames durable.
func (t *commit) sync() {
	done := map[string]bool{}
	for _, o := range t.ops {
		for _, p := range []place{o.at, o.from} {
			if p.root == nil {
				continue
			}
			dir := filepath.Dir(p.rel)
			if abs := filepath.Join(p.dir, dir); !done[abs] {
				done[abs] = true
				_ = syncDir(p.root, dir)
			}
		}
	}
}
