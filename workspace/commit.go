package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// do puts everything in its place, or takes it back.
func (t *transaction) do() error {
	err := t.steps()
	if err == nil {
		t.sync()
		t.noteOwn(t.changes)
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
func (t *transaction) steps() error {
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
		if err := t.mkdir(d); err != nil {
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
func (t *transaction) open() error {
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
func (t *transaction) step(do, back func() error) error {
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
func (t *transaction) remove(o *op) error {
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
func (t *transaction) rename(from, to place) error {
	return t.step(
		func() error { return from.renameTo(to) },
		func() error { return to.renameTo(from) })
}

func (t *transaction) mkdir(d place) error {
	return t.step(
		func() error { return d.mkdir() },
		func() error { return d.remove() })
}

// chmod gives a place the mode that it once had.
func (t *transaction) chmod(o *op) error {
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
func (t *transaction) put(o *op) error {
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
func (t *transaction) backUp(o *op) error {
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
func (t *transaction) sync() {
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
