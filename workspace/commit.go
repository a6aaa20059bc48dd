package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// do puts everything in its place, or takes it back.
func (t *transaction) do() error {
	err := t.steps()
	if err == nil {
		t.sync()
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

func (t *transaction) steps() error {
	for _, o := range inOrder(t.ops) {
		if o.removes() {
			if err := t.remove(o); err != nil {
				return t.tell(o.Path, err)
			}
		}
	}
	for _, d := range t.dirs {
		if err := t.mkdir(d, 0o777); err != nil {
			return t.tell(d.abs, err)
		}
	}
	for i := len(t.ops) - 1; i >= 0; i-- {
		// Parents have shorter names.
		o := inOrder(t.ops)[i]
		if o.makesDir() {
			if err := t.makeDir(o); err != nil {
				return t.tell(o.Path, err)
			}
		}
	}
	for _, o := range t.ops {
		if o.removes() || o.makesDir() {
			continue
		}
		if err := t.put(o); err != nil {
			return t.tell(o.Path, err)
		}
	}
	return nil
}

// step notes how to take back what is done next, and does it.
func (t *transaction) step(do, back func() error) error {
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
			func() error { return o.at.root.Remove(o.at.rel) },
			func() error {
				return errors.Join(o.at.root.Mkdir(o.at.rel, 0o777), o.at.root.Chmod(o.at.rel, o.before.Mode&permissions))
			})
	}
	if len(t.ops) == 1 {
		return o.at.root.Remove(o.at.rel)
	}
	return t.rename(o.at, t.temporary(o.at))
}

// rename moves what is at one place to another in the same tree.
func (t *transaction) rename(from, to place) error {
	return t.step(
		func() error { return from.root.Rename(from.rel, to.rel) },
		func() error { return from.root.Rename(to.rel, from.rel) })
}

func (t *transaction) mkdir(d place, mode fs.FileMode) error {
	return t.step(
		func() error { return d.root.Mkdir(d.rel, mode) },
		func() error { return d.root.Remove(d.rel) })
}

// makeDir makes a directory with an exact mode, or gives it to one that is there.
func (t *transaction) makeDir(o *op) error {
	if o.before == nil || !o.before.Mode.IsDir() {
		if err := t.mkdir(o.at, 0o700); err != nil {
			return err
		}
	}
	return t.chmod(o.at, o.before, o.State.Mode)
}

func (t *transaction) chmod(p place, before *State, mode fs.FileMode) error {
	return t.step(
		func() error { return p.root.Chmod(p.rel, mode&permissions) },
		func() error {
			if before == nil {
				return nil
			}
			return p.root.Chmod(p.rel, before.Mode&permissions)
		})
}

// put moves a staged or renamed file to its place.
func (t *transaction) put(o *op) error {
	if o.temp == nil {
		return t.rename(o.from, o.at)
	}
	if o.From != "" {
		if err := t.rename(o.from, t.temporary(o.from)); err != nil {
			return err
		}
	}
	if o.before != nil && len(t.ops) > 1 && !t.going[o.at.abs] {
		if err := t.backUp(o); err != nil {
			return err
		}
	}
	return t.step(
		func() error { return o.temp.root.Rename(o.temp.rel, o.at.rel) },
		func() error {
			if o.before == nil {
				return o.at.root.Remove(o.at.rel)
			}
			return nil // the copy is put over it
		})
}

// backUp keeps what is replaced under a second name, so that there is no moment without the file. Where there are no hard links, it is moved.
func (t *transaction) backUp(o *op) error {
	copied := t.temporary(o.at)
	err := o.at.root.Link(o.at.rel, copied.rel)
	if err != nil {
		return t.rename(o.at, copied)
	}
	t.back = append(t.back, func() error { return o.at.root.Rename(copied.rel, o.at.rel) })
	return nil
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
