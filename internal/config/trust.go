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

// lockEvery is the interval between attempts to lock a file. Another process holds the lock only while it writes a small file.
const lockEvery = 5 * time.Millisecond

// TrustStore is the list of trusted folders: a project's configuration takes effect only if its folder is in the list. The
// list is the file trust.json in the user's directory. It holds absolute paths without symbolic links. Trust does not extend
// to subfolders. The methods are safe for concurrent use, also by several processes.
type TrustStore struct{ dir string }

// Folder is a trusted folder.
type Folder struct {
	Path string    `json:"path"`
	Time time.Time `json:"time"` // the time when the user first trusted it
}

type trustFile struct {
	Folders []Folder `json:"folders"`
}

// NewTrustStore returns the list in a directory. Trust creates the directory if it does not exist.
func NewTrustStore(dir string) *TrustStore { return &TrustStore{dir: dir} }

// Trusted reports whether a folder is trusted. For a project, pass the folder that [ProjectRoot] returns. A folder that does
// not exist is not trusted. Trusted returns an error if it cannot read the list, or if others can write to it.
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

// List returns the trusted folders, sorted by path.
func (s *TrustStore) List() ([]Folder, error) {
	data, err := readRegular(s.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot use the list of trusted folders, %s: %w", s.file(), err)
	}
	if info, err := os.Stat(s.file()); err == nil && info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("cannot use the list of trusted folders: others can write to it; check its entries and run: chmod 600 %s", s.file())
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
		return fmt.Errorf("cannot trust %s: %w", dir, err)
	}
	return s.change(ctx, func(folders []Folder) []Folder {
		i, found := find(folders, path)
		if found {
			return folders
		}
		return slices.Insert(folders, i, Folder{Path: path, Time: time.Now().UTC().Truncate(time.Second)})
	})
}

// Revoke removes a folder from the list, even if the folder no longer exists. If the list does not have it, Revoke does nothing.
func (s *TrustStore) Revoke(ctx context.Context, dir string) error {
	path, err := resolve(dir)
	if err != nil {
		if path, err = filepath.Abs(dir); err != nil {
			return fmt.Errorf("cannot revoke the trust of %s: %w", dir, err)
		}
	}
	return s.change(ctx, func(folders []Folder) []Folder {
		return slices.DeleteFunc(folders, func(f Folder) bool { return f.Path == path })
	})
}

func (s *TrustStore) file() string { return filepath.Join(s.dir, "trust.json") }

// change rewrites the list and holds a lock against other processes.
func (s *TrustStore) change(ctx context.Context, edit func([]Folder) []Folder) (err error) {
	unlock, err := lock(ctx, filepath.Join(s.dir, "trust.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	folders, err := s.List()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(trustFile{Folders: edit(folders)}, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(ctx, s.file(), append(data, '\n')); err != nil {
		return fmt.Errorf("cannot write the list of trusted folders: %w", err)
	}
	return nil
}

// lock locks a file against other processes, until ctx ends, and creates it with its directory.
func lock(ctx context.Context, file string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the configuration directory: %w", err)
	}
	lock := flock.New(file, flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockEvery); err != nil {
		return nil, fmt.Errorf("cannot lock the configuration: %w", err)
	}
	return lock.Close, nil
}

// replace replaces the content of a file atomically. Only the owner can read the file.
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

// rename replaces a file with another. Windows refuses to replace a file while a process reads it, so rename retries.
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

// resolve returns the absolute path of an existing folder, without symbolic links.
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

// find returns the index of a folder in the sorted list, or the index at which to insert it.
func find(folders []Folder, path string) (int, bool) {
	return slices.BinarySearchFunc(folders, path, func(f Folder, path string) int { return cmp.Compare(f.Path, path) })
}
