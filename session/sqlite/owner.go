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

// owner proves that this store lives, by a locked file in a directory next to the database, and finds out whether other stores live. The
// bell is in the same directory.
type owner struct {
	dir string

	mu   sync.Mutex
	lock *flock.Flock   // held from the first lease on
	name string         // our token
	rope *os.File       // of the bell
	note [noteSize]byte // about this process
}

const (
	lockSuffix = ".lock"
	bellName   = "bell"
)

func (o *owner) init(dir string) {
	o.dir = dir
	o.note = noteOf(os.Getpid(), os.Args)
}

// token returns the name under which this store holds leases, and locks its file.
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
		// Another process may have locked or removed the new file before this one locked it.
		if _, err := os.Stat(lock.Path()); locked && err == nil {
			o.lock, o.name = lock, name
			return name, nil
		}
		_ = lock.Close()
	}
	return "", fmt.Errorf("cannot lock a file in %s", o.dir)
}

func (o *owner) file(token string) string { return filepath.Join(o.dir, token+lockSuffix) }

// lives reports whether the store with this token lives.
func (o *owner) lives(token string) bool {
	if token == "" || strings.ContainsAny(token, `/\:.`) { // the token comes from a file, and becomes a file name
		return false
	}
	o.mu.Lock()
	own := token == o.name
	o.mu.Unlock()
	return own || !o.dead(o.file(token))
}

// dead reports whether no process locks the file, or it does not exist. It tries a shared lock: two callers at once do not see each other,
// and the medium need not be writable.
func (o *owner) dead(path string) bool {
	look := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := look.TryRLock()
	_ = look.Close()
	return free || errors.Is(err, fs.ErrNotExist)
}

// reap removes the files of dead processes.
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

// escape escapes the name of a directory in a pattern.
func escape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ring wakes the watchers in other processes, and names this process as the writer. A failure is no error: watchers also look by themselves,
// and a process that waits for the lock only lacks a name.
func (o *owner) ring() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rope == nil {
		if makeDir(o.dir) != nil {
			return
		}
		rope, err := os.OpenFile(filepath.Join(o.dir, bellName), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return
		}
		o.rope = rope
	}
	_, _ = o.rope.WriteAt(o.note[:], 0)
	if runtime.GOOS == "windows" { // where a write is only noticed when the file is closed
		_ = o.rope.Close()
		o.rope = nil
	}
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
