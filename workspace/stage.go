package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// stageContent writes what a place will have to a temporary file, with the mode and owner of old, and makes it durable.
func (t *transaction) stageContent(o *op, old fs.FileInfo) error {
	if err := t.missing(o.at); err != nil {
		return err
	}
	temp := t.temporary(o.at)
	o.temp = &temp
	if o.State != nil && o.State.Mode&fs.ModeSymlink != 0 {
		o.after = &State{Mode: o.State.Mode, Link: o.State.Link}
		return temp.root.Symlink(o.State.Link, temp.rel)
	}
	in, err := t.content(o)
	if err != nil {
		return err
	}
	defer in.Close()
	mode := fs.FileMode(0o666)
	if old != nil || o.State != nil {
		mode = 0o600 // nobody may read it who could not read the old one, not even for a moment
	}
	f, err := temp.root.OpenFile(temp.rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, hash), in)
	if err == nil && old != nil {
		keepOwner(f, old)
	}
	if err == nil && (old != nil || o.State != nil) {
		err = f.Chmod(modeFor(o, old))
	}
	if err == nil {
		err = f.Sync()
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	o.after = &State{Hash: hex.EncodeToString(hash.Sum(nil)), Size: size, Mode: info.Mode()}
	if o.State != nil && o.State.Hash != o.after.Hash {
		return fmt.Errorf("the content kept for %s is damaged", o.at.abs)
	}
	return nil
}

// modeFor is the mode of a file that is replaced or restored.
func modeFor(o *op, old fs.FileInfo) fs.FileMode {
	mode := fs.FileMode(0)
	if o.State != nil {
		mode = o.State.Mode
	} else {
		mode = old.Mode()
	}
	return mode & permissions
}

const permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// content is what a place will have.
func (t *transaction) content(o *op) (io.ReadCloser, error) {
	switch {
	case o.State != nil:
		return nil, errors.New("there is no checkpoint store to take the content from")
	case o.Data == nil:
		return o.from.open()
	}
	return io.NopCloser(bytes.NewReader(o.Data)), nil
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

// state is what lies at a place, nil for nothing. The content of a file is put into the checkpoint store.
func (t *transaction) state(p place) (*State, error) {
	info, err := p.root.Lstat(p.rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &State{Mode: info.Mode()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		s.Link, err = p.root.Readlink(p.rel)
		return s, err
	case !info.Mode().IsRegular():
		return s, nil
	}
	s.Size = info.Size()
	if t.changed == nil {
		return s, nil
	}
	f, err := p.openRegular()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := sha256.New()
	if s.Size, err = io.Copy(hash, f); err != nil {
		return nil, err
	}
	s.Hash, s.Lost = hex.EncodeToString(hash.Sum(nil)), "there is no checkpoint store"
	return s, nil
}
