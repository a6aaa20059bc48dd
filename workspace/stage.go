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

	"github.com/tenon-agent/tenon/workspace/contents"
)

// stageContent writes the new content of a place to a temporary file, with the mode and owner of old, and makes it durable.
func (t *transaction) stageContent(o *op, old fs.FileInfo) error {
	if err := t.missing(o.at); err != nil {
		return err
	}
	temp := t.temporary(o.at)
	o.temp = &temp
	if o.State != nil && o.State.Mode&fs.ModeSymlink != 0 {
		o.after = &State{Mode: o.State.Mode, Link: o.State.Link}
		return temp.within(func(dir *os.Root, name string) error { return dir.Symlink(o.State.Link, name) })
	}
	in, err := t.content(o)
	if err != nil {
		return err
	}
	defer in.Close()
	mode := fs.FileMode(0o666)
	if old != nil || o.State != nil {
		mode = 0o600 // only users who could read the old file may read it, at every moment
	}
	var f *os.File
	err = temp.within(func(dir *os.Root, name string) error {
		f, err = dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
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

// content opens the new content of a place.
func (t *transaction) content(o *op) (io.ReadCloser, error) {
	switch {
	case o.State != nil && t.kept == nil:
		return nil, errors.New("there is no store with the content")
	case o.State != nil:
		return t.kept.Open(t.ctx, o.State.Hash)
	case o.Data == nil:
		return o.from.open()
	}
	return io.NopCloser(bytes.NewReader(o.Data)), nil
}

// writable refuses a file that may not be written, although a rename would replace it: a read-only file, a directory, a pipe.
func (p place) writable(old fs.FileInfo) error {
	if err := regular(p.abs, old.Mode()); err != nil {
		return err
	}
	f, err := p.openOnly(os.O_WRONLY | noBlock)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		return nil // such as a program that runs now: it can be replaced
	}
	return f.Close()
}

// lstat returns the state of a place, nil for nothing, without the content of a file.
func (p place) lstat() (*State, error) {
	info, err := p.lstatOnly()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &State{Mode: info.Mode()}
	if info.Mode().IsRegular() {
		s.Size = info.Size()
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		err = p.within(func(dir *os.Root, name string) error {
			s.Link, err = dir.Readlink(name)
			return err
		})
	}
	return s, err
}

// state returns the state of a place, nil for nothing, and keeps the content of a file.
func (t *transaction) state(name string, p place) (*State, error) {
	s, err := p.lstat()
	if err != nil {
		return nil, t.tell(name, err)
	}
	if s != nil && s.Mode.IsRegular() && t.changed != nil {
		return s, t.keep(s, name, p)
	}
	return s, nil
}

// keep keeps the content of a file. After an error the file must not change. If the store may not keep the content, the state has the reason.
func (t *transaction) keep(s *State, name string, p place) error {
	f, err := p.openRegular()
	if err != nil {
		return t.tell(name, err)
	}
	defer f.Close()
	if t.kept == nil {
		hash := sha256.New()
		s.Size, err = io.Copy(hash, f)
		s.Hash, s.Lost = hex.EncodeToString(hash.Sum(nil)), "there is no checkpoint store"
		return err
	}
	kept, err := contents.Put(t.ctx, t.kept, f)
	s.Hash, s.Size, s.Lost = kept.Hash, kept.Size, kept.Lost
	if err != nil {
		return fmt.Errorf("cannot keep the content of %s, so nothing was changed: %w", Quote(name), err)
	}
	return nil
}
