package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A root keeps a path from leaving its tree, and goes through links in it. A link that is put in the way after a path was judged
// would lead to what is hidden or protected in the same tree. So what is done at a place is done in its directory, which was come to
// through no link.

// parent is the place as its directory has it. It must be closed.
func (p place) parent() (place, error) {
	at := place{tree: p.tree, rel: p.rel, abs: p.abs}
	for {
		part, rest, more := strings.Cut(at.rel, string(filepath.Separator))
		if !more {
			return at, nil
		}
		next, err := at.enter(part)
		at.close()
		if errors.Is(err, errNoDirectory) {
			err = &fs.PathError{Op: "open", Path: filepath.Join(at.dir, part), Err: syscall.ENOTDIR}
		}
		if err != nil {
			return place{}, err
		}
		at = place{tree: next, rel: rest, abs: p.abs, ours: true}
	}
}

// within does something in the directory of a place.
func (p place) within(do func(dir *os.Root, name string) error) error {
	at, err := p.parent()
	if err != nil {
		return err
	}
	defer at.close()
	return do(at.root, at.rel)
}

// maxReplaced is how often a file may be replaced by another one, as editors do, while it is opened.
const maxReplaced = 100

// openOnly opens what is at a place, unless it is a link.
func (p place) openOnly(flag int) (*os.File, error) {
	at, err := p.parent()
	if err != nil {
		return nil, err
	}
	defer at.close()
	for range maxReplaced {
		before, err := at.root.Lstat(at.rel)
		switch {
		case err != nil:
			return nil, err
		case before.Mode()&fs.ModeSymlink != 0:
			return nil, &fs.PathError{Op: "open", Path: p.abs, Err: errMoved}
		}
		f, err := at.root.OpenFile(at.rel, flag, 0)
		if err != nil {
			return nil, err
		}
		after, err := f.Stat()
		if err == nil && os.SameFile(before, after) {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: p.abs, Err: errMoved}
}

// lstatOnly is what is at a place; a link is not followed.
func (p place) lstatOnly() (info fs.FileInfo, err error) {
	err = p.within(func(dir *os.Root, name string) error {
		info, err = dir.Lstat(name)
		return err
	})
	return info, err
}

func (p place) remove() error {
	return p.within(func(dir *os.Root, name string) error { return dir.Remove(name) })
}

func (p place) mkdir() error {
	return p.within(func(dir *os.Root, name string) error { return dir.Mkdir(name, 0o777) })
}

func (p place) chmod(mode fs.FileMode) error {
	return p.within(func(dir *os.Root, name string) error {
		info, err := dir.Lstat(name)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = &fs.PathError{Op: "chmod", Path: p.abs, Err: errMoved}
		}
		if err != nil {
			return err
		}
		return dir.Chmod(name, mode)
	})
}

// renameTo moves what is at a place to another one of the same tree.
func (p place) renameTo(to place) error {
	from, err := p.parent()
	if err != nil {
		return err
	}
	defer from.close()
	if filepath.Dir(p.rel) == filepath.Dir(to.rel) {
		return from.root.Rename(from.rel, filepath.Base(to.rel))
	}
	at, err := to.parent()
	if err != nil {
		return err
	}
	defer at.close()
	if err := renameBetween(from.root, from.rel, at.root, at.rel); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return p.root.Rename(p.rel, to.rel)
}

// linkTo gives a file a second name in its directory.
func (p place) linkTo(to place) error {
	if filepath.Dir(p.rel) != filepath.Dir(to.rel) {
		return errors.ErrUnsupported
	}
	return p.within(func(dir *os.Root, name string) error { return dir.Link(name, filepath.Base(to.rel)) })
}
