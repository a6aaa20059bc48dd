package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile puts data in the place of a file, whole or not at all: it is written beside it, made durable and renamed. The
// mode of an existing file is kept, a link's target is replaced and not the link, missing directories are made.
//
// Unless it is nil, check is called right before the replacement, while no other WriteFile of this workspace is under way; its
// error stops it, and the file stays as it was.
func (w *Workspace) WriteFile(name string, data []byte, check func() error) error {
	p, err := w.place(name)
	if err != nil {
		return err
	}
	temp, err := p.stage(data)
	if err != nil {
		return w.tell(name, err)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	if check != nil {
		err = check()
	}
	if err == nil {
		err = p.root.Rename(temp, p.rel)
		if err != nil {
			err = w.tell(name, err)
		}
	}
	if err != nil {
		return errors.Join(err, p.root.Remove(temp))
	}
	if err := syncDir(p.root, filepath.Dir(p.rel)); err != nil {
		return w.tell(name, err)
	}
	return nil
}

// stage writes data to a file beside its place and makes it durable. It returns the name from the root.
func (p place) stage(data []byte) (temp string, err error) {
	old, err := p.root.Stat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return "", err
	default:
		if err := p.writable(old); err != nil {
			return "", err
		}
	}
	dir := filepath.Dir(p.rel)
	if err := p.root.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // nobody may read it who could not read the old one, not even for a moment
	}
	temp = filepath.Join(dir, ".tenon-"+rand.Text())
	f, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && old != nil {
		keepOwner(f, old)
		err = f.Chmod(old.Mode().Perm() | old.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, p.root.Remove(temp))
	}
	return temp, nil
}

// writable refuses what a rename would replace although it may not be written: a read-only file, a directory, a pipe.
func (p place) writable(old fs.FileInfo) error {
	if err := regular(p.abs, old.Mode()); err != nil {
		return err
	}
	f, err := p.root.OpenFile(p.rel, os.O_WRONLY|noBlock, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		return nil // such as a program that runs now: it can be replaced
	}
	return f.Close()
}
