package config

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// lockEvery is how often a lock is tried that another process holds, for less than it takes to write a small file.
const lockEvery = 5 * time.Millisecond

// TrustStore is the list of folders whose own configuration takes effect, the file trust.json in the user's directory. A
// folder is meant by its absolute path with symbolic links resolved, and stands for itself alone: nothing below it is
// trusted. The methods are safe for concurrent use, also by several processes.
type TrustStore struct{ dir string }

// Folder is a folder that is trusted.
type Folder struct {
	Path string    `json:"path"`
	Time time.Time `json:"time"` // when it was first trusted
}

// trustFile is the format of trust.json.
type trustFile struct {
	Folders []Folder `json:"folders"`
}

// NewTrustStore returns the list in a directory, which Trust creates when it is not there.
func NewTrustStore(dir string) *TrustStore { return &TrustStore{dir: dir} }

// Trusted reports whether a folder is trusted; see ProjectRoot for which folder to ask about. One that does not exist is
// not. The error tells that the list cannot be read, or that others could have written it.
func (s *TrustStore) Trusted(dir string) (bool, error) {
	folders, err := s.List()
	if err != nil || len(folders) == 0 {
		return false, err
	}
	path, err := resolve(dir)
	if err != nil {
		return false, nil
	}
	_, found := find(folders, path)
	return found, nil
}

// List returns the folders that are trusted, sorted by path.
func (s *TrustStore) List() ([]Folder, error) {
	data, err := readRegular(s.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the list of trusted folders, %s: %w", s.file(), err)
	}
	if info, err := os.Stat(s.file()); err == nil && info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the list of trusted folders can be written by others; look through it and run: chmod 600 %s", s.file())
	}
	var list trustFile
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("the list of trusted folders is damaged: %w; delete %s and trust your folders again", err, s.file())
	}
	slices.SortFunc(list.Folders, func(a, b Folder) int { return cmp.Compare(a.Path, b.Path) })
	return list.Folders, nil
}

// Trust adds a folder. It waits for other processes that change the list, until ctx ends.
func (s *TrustStore) Trust(ctx context.Context, dir string) error {
	path, err := resolve(dir)
	if err != nil {
		return fmt.Errorf("trust %s: %w", dir, err)
	}
	return s.change(ctx, func(folders []Folder) []Folder {
		i, found := find(folders, path)
		if found {
			return folders
		}
		return slices.Insert(folders, i, Folder{Path: path, Time: time.Now().UTC().Truncate(time.Second)})
	})
}

// Revoke removes a folder, also one that does not exist any more. One that is not in the list is no error.
func (s *TrustStore) Revoke(ctx context.Context, dir string) error {
	path, err := resolve(dir)
	if err != nil {
		if path, err = filepath.Abs(dir); err != nil {
			return fmt.Errorf("revoke %s: %w", dir, err)
		}
	}
	return s.change(ctx, func(folders []Folder) []Folder {
		return slices.DeleteFunc(folders, func(f Folder) bool { return f.Path == path })
	})
}

func (s *TrustStore) file() string { return filepath.Join(s.dir, "trust.json") }

// change rewrites the list while no other process does.
func (s *TrustStore) change(ctx context.Context, edit func([]Folder) []Folder) (err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the configuration: %w", err)
	}
	lock := flock.New(filepath.Join(s.dir, "trust.lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockEvery); err != nil {
		return fmt.Errorf("lock the list of trusted folders: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	folders, err := s.List()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(trustFile{Folders: edit(folders)}, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(ctx, s.file(), append(data, '\n')); err != nil {
		return fmt.Errorf("write the list of trusted folders: %w", err)
	}
	return nil
}

// replace gives a file, readable by its owner only, new content at once.
func replace(ctx context.Context, file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".trust-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = rename(ctx, f.Name(), file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// rename moves a file over another. Windows refuses that while somebody reads the other, which takes no time to speak of.
func rename(ctx context.Context, from, to string) error {
	const tries = 100
	for try := 1; ; try++ {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || try == tries {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockEvery):
		}
	}
}

// resolve returns the absolute path of a folder that exists, without symbolic links.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", cmp.Or(err, error(&fs.PathError{Op: "open", Path: path, Err: errors.New("is not a folder")}))
	}
	return path, nil
}

// find returns where a folder is in the sorted list, or belongs.
func find(folders []Folder, path string) (int, bool) {
	return slices.BinarySearchFunc(folders, path, func(f Folder, path string) int { return cmp.Compare(f.Path, path) })
}
