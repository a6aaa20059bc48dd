package sqlite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// owner proves that this store lives, by a locked file in a directory beside the database, and tells whether other stores
// do. In the same directory hangs the bell.
type owner struct {
	dir string

	mu   sync.Mutex
	lock *flock.Flock // held from the first lease on
	name string       // our token
	rope *os.File     // of the bell
}

const (
	lockSuffix = ".lock"
	bellName   = "bell"
)

func (o *owner) init(dir string) { o.dir = dir }

// token returns the name under which this store holds leases, and begins to prove that it lives.
func (o *owner) token() (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lock != nil {
		return o.name, nil
	}
	if err := makeDir(o.dir); err != nil {
		return "", err
	}
	o.reap()
	for range 10 {
		name := strings.ToLower(rand.Text())
		lock := flock.New(o.file(name), flock.SetFlag(os.O_CREATE|os.O_RDWR))
		locked, err := lock.TryLock()
		if err != nil {
			return "", err
		}
		// Another process may have taken the new file for a dead one's before it was locked: then it locked or removed it.
		if _, err := os.Stat(lock.Path()); locked && err == nil {
			o.lock, o.name = lock, name
			return name, nil
		}
		_ = lock.Close()
	}
	return "", fmt.Errorf("no lock to be had in %s", o.dir)
}

func (o *owner) file(token string) string { return filepath.Join(o.dir, token+lockSuffix) }

// lives reports whether the store with this token does.
func (o *owner) lives(token string) bool {
	if token == "" || strings.ContainsAny(token, `/\:.`) { // the token comes from a file, and becomes a file name
		return false
	}
	o.mu.Lock()
	own := token == o.name
	o.mu.Unlock()
	return own || !o.dead(o.file(token))
}

// dead reports whether nobody holds the lock file, or there is none. Two who look at once do not see each other, because
// they only ask for a shared lock, for which a medium need not be writable.
func (o *owner) dead(path string) bool {
	look := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := look.TryRLock()
	_ = look.Close()
	return free || errors.Is(err, fs.ErrNotExist)
}

// reap removes what dead processes left.
func (o *owner) reap() {
	files, _ := filepath.Glob(filepath.Join(escape(o.dir), "*"+lockSuffix))
	for _, path := range files {
		left := flock.New(path, flock.SetFlag(os.O_RDWR))
		if locked, err := left.TryLock(); err != nil || !locked {
			continue
		}
		if runtime.GOOS == "windows" { // where an open file cannot be removed
			_ = left.Close()
		}
		_ = os.Remove(path)
		_ = left.Close()
	}
}

// escape makes a directory's name stand for itself in a pattern.
func escape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ring wakes those who watch in other processes.
func (o *owner) ring() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rope == nil {
		if err := makeDir(o.dir); err != nil {
			return err
		}
		rope, err := os.OpenFile(filepath.Join(o.dir, bellName), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		o.rope = rope
	}
	_, err := o.rope.WriteAt([]byte{'\n'}, 0)
	if runtime.GOOS == "windows" { // where a write is only noticed when the file is closed
		err = errors.Join(err, o.rope.Close())
		o.rope = nil
	}
	return err
}

func (o *owner) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	if o.rope != nil {
		errs = append(errs, o.rope.Close())
		o.rope = nil
	}
	if o.lock != nil {
		if runtime.GOOS != "windows" { // where an open file cannot be removed
			_ = os.Remove(o.lock.Path())
		}
		errs = append(errs, o.lock.Close())
		_ = os.Remove(o.lock.Path())
		o.lock, o.name = nil, ""
	}
	return errors.Join(errs...)
}
