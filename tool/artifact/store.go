package artifact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// store is the directory of a session's artifacts.
type store struct {
	dir string
	mu  sync.Mutex // of who writes
}

// file is one artifact.
type file struct {
	name string
	size int64
}

// all returns the artifacts, by name. What somebody else put into the directory and is no artifact does not count.
func (s *store) all() ([]file, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []file
	for _, entry := range entries {
		if !entry.Type().IsRegular() || checkName(entry.Name()) != nil {
			continue
		}
		if info, err := entry.Info(); err == nil && len(out) < 2*maxFiles {
			out = append(out, file{entry.Name(), info.Size()})
		}
	}
	return out, nil
}

// room returns an error when an artifact of a size would be too much.
func (s *store) room(name string, size int) error {
	all, err := s.all()
	if err != nil {
		return err
	}
	files, total := 1, int64(size)
	for _, f := range all {
		if f.name != name {
			files++
			total += f.size
		}
	}
	switch {
	case files > maxFiles:
		return fmt.Errorf("there are %d artifacts already; write into one of them", files-1)
	case total > maxTotal:
		return fmt.Errorf("all artifacts would have %d bytes, more than %d; make one of them shorter", total, maxTotal)
	}
	return nil
}

// write saves an artifact, whole or not at all.
func (s *store) write(name, content string) (replaced bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room(name, len(content)); err != nil {
		return false, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return false, err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	switch info, err := root.Lstat(name); {
	case err == nil && !info.Mode().IsRegular():
		return false, errors.New("something else than a file has this name; take another")
	case err == nil:
		replaced = true
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	temp := ".tenon-" + rand.Text()
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return false, errors.Join(err, root.Remove(temp))
	}
	return replaced, nil
}

// load reads an artifact.
func (s *store) load(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Lstat(name) // before it is opened: a named pipe would block
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a file")
	case info.Size() > maxSize:
		return "", fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxSize)
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	_, err = io.Copy(&b, io.LimitReader(f, maxSize))
	return b.String(), err
}
