package contents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Dir is a [Store] in a directory: each content is a file. Several processes may use it.
type Dir struct {
	dir     string
	options Options

	mu    sync.Mutex
	size  int64 // bytes of all files
	known bool  // size is known
}

// NewDir returns the store in a directory. The first content that it keeps makes the directory, for this user alone.
func NewDir(dir string, o Options) *Dir { return &Dir{dir: dir, options: o.withDefaults()} }

// Path returns the directory.
func (d *Dir) Path() string { return d.dir }

// Put implements [Store].
func (d *Dir) Put(ctx context.Context, from ...io.Reader) ([]Kept, error) {
	all := make([]Kept, 0, len(from))
	var fresh []string
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, fmt.Errorf("contents: %w", err)
	}
	for _, r := range from {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		kept, name, err := d.put(r)
		if err != nil {
			return nil, err
		}
		if all = append(all, kept); name != "" {
			fresh = append(fresh, name)
		}
	}
	if err := syncFiles(d.dir, fresh); err != nil {
		return nil, fmt.Errorf("contents: %w", err)
	}
	return all, nil
}

// put keeps one content, and returns the name of its file if that is new.
func (d *Dir) put(r io.Reader) (_ Kept, fresh string, err error) {
	l := newLimit(r, d.options.MaxFile)
	temp, err := writeTemp(d.dir, l)
	if err != nil {
		return Kept{}, "", errors.Join(err, removeTemp(temp))
	}
	defer func() {
		if fresh == "" {
			err = errors.Join(err, os.Remove(temp))
		}
	}()
	k, err := l.kept()
	if err != nil || k.Lost != "" {
		return k, "", err
	}
	name := filepath.Join(d.dir, nameOf(k.Hash))
	if info, err := os.Lstat(name); err == nil && info.Size() == k.Size {
		return k, "", nil
	}
	if !d.reserve(k.Size) {
		k.Lost = full(d.options.MaxTotal)
		return k, "", nil
	}
	if err := os.Rename(temp, name); err != nil {
		d.reserve(-k.Size)
		return k, "", fmt.Errorf("contents: %w", err)
	}
	return k, name, nil
}

// reserve counts bytes that will be written, if there is space for them. A negative number gives them back.
func (d *Dir) reserve(n int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known {
		d.look()
	}
	if n > 0 && d.size+n > d.options.MaxTotal {
		return false
	}
	d.size += n
	return true
}

// look counts the files, and removes what an earlier process left incomplete. mu is held.
func (d *Dir) look() {
	entries, _ := os.ReadDir(d.dir)
	d.known = true
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case filepath.Ext(e.Name()) == ".txt":
			d.size += info.Size()
		case time.Since(info.ModTime()) > 24*time.Hour:
			_ = os.Remove(filepath.Join(d.dir, e.Name()))
		}
	}
}

// Open implements [Store].
func (d *Dir) Open(_ context.Context, hash string) (io.ReadCloser, error) {
	if err := check(hash); err != nil {
		return nil, err
	}
	name := filepath.Join(d.dir, nameOf(hash))
	info, err := os.Lstat(name) // before it is opened: a named pipe would block
	if err == nil && !info.Mode().IsRegular() {
		return nil, &DamagedError{Hash: hash, Err: errors.New("its file is not a regular file")}
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %.12s", ErrNotKept, hash)
	}
	if err != nil {
		return nil, fmt.Errorf("contents: %w", err)
	}
	return verify(f, hash), nil
}

// file returns the path of a content.
func (d *Dir) file(hash string) (string, error) {
	if err := check(hash); err != nil {
		return "", err
	}
	name := filepath.Join(d.dir, nameOf(hash))
	if _, err := os.Lstat(name); err != nil {
		return "", fmt.Errorf("%w: %.12s", ErrNotKept, hash)
	}
	return name, nil
}

// syncFiles makes new files durable, and their names.
func syncFiles(dir string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if len(names) > 64 && syncAll(dir) {
		return nil
	}
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync() // some systems cannot
		f.Close()
	}
	return nil
}
