package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Stat returns the facts about the file or directory to which name leads.
func (b *boundary) Stat(name string) (fs.FileInfo, error) {
	p, err := b.readable(name)
	if err != nil {
		return nil, err
	}
	defer p.close()
	info, err := p.lstatOnly()
	if err != nil {
		return nil, b.tell(name, err)
	}
	return info, nil
}

// Lstat returns the facts about a path that Locate returned.
func (b *boundary) Lstat(abs string) (fs.FileInfo, error) {
	if !b.limits.Load().temporary(abs) {
		return os.Lstat(abs)
	}
	p, err := b.judge(abs, abs, reading)
	if err != nil {
		return nil, err
	}
	return p.lstatOnly()
}

// OpenFile opens a regular file for reading. For another file the error is a [*DirectoryError] or [*SpecialError]. The caller closes the file.
func (b *boundary) OpenFile(name string) (*os.File, error) {
	p, err := b.readable(name)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := p.open()
	if err != nil {
		return nil, b.tell(name, err)
	}
	return f, nil
}

func (p place) open() (*os.File, error) {
	info, err := p.lstatOnly()
	if err != nil {
		return nil, err
	}
	if err := regular(p.abs, info.Mode()); err != nil {
		return nil, err
	}
	return p.openRegular()
}

// OpenEntry opens a file of a walk, like OpenFile but faster, above all during the walk: it goes through no links. It returns the size of the
// file, which may change and which some files do not have. The caller closes the file.
func (w *Workspace) OpenEntry(e Entry) (_ io.ReadCloser, size int64, err error) {
	if err := regular(e.Path, e.Type); err != nil {
		return nil, 0, err
	}
	if fast, size, err := e.top.openFile(e.Path); !errors.Is(err, errors.ErrUnsupported) {
		if err != nil {
			return nil, 0, w.tell(e.Path, err)
		}
		return fast, size, nil
	}
	f, err := w.openEntry(e.Path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (w *Workspace) openEntry(name string) (*os.File, error) {
	rel := filepath.FromSlash(name)
	if filepath.IsAbs(rel) {
		return w.OpenFile(rel)
	}
	p := place{tree: w.tree, rel: rel, abs: filepath.Join(w.dir, rel)}
	if path, ok := w.limits.Load().secret(p.abs, reading); ok {
		return nil, &HiddenError{Path: name, Hidden: path}
	}
	f, err := p.openRegular()
	if err != nil {
		return nil, w.tell(name, err)
	}
	return f, nil
}

// openRegular opens what was a regular file. Another process may have put a pipe in its place: it does not block, and is seen.
func (p place) openRegular() (*os.File, error) {
	f, err := p.openOnly(os.O_RDONLY | noBlock)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(p.abs, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a regular file of at most limit bytes; a larger one is a [*TooLargeError].
func (b *boundary) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := b.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(f, name, limit)
	if err != nil {
		return nil, b.tell(name, err)
	}
	return data, nil
}

func readAll(f *os.File, name string, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &TooLargeError{Path: name, Size: info.Size(), Limit: limit}
	}
	// The file may grow while it is read, and some file systems tell no size.
	data := make([]byte, 0, info.Size()+512)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case int64(len(data)) > limit:
			return nil, &TooLargeError{Path: name, Size: int64(len(data)), Limit: limit}
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}
