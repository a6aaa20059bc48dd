//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// claim holds a directory while the file is open, however this process ends. It is an [fs.ErrNotExist] when somebody who took it for
// abandoned has just removed it.
func claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK) || err == nil && !at(dir, f):
		f.Close()
		return nil, &fs.PathError{Op: "claim", Path: dir, Err: fs.ErrNotExist}
	default: // also on a file system without locks: then nobody takes it away
		return f, nil
	}
}

// sweepAbandoned removes the directories of outputs in dir that belong to this user and to no process: those had no time to.
func sweepAbandoned(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), outputsName+"*")
	if err != nil {
		return
	}
	for _, name := range names {
		info, err := root.Lstat(name)
		if err != nil || !info.IsDir() {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			continue
		}
		f, err := root.OpenFile(name, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && at(filepath.Join(dir, name), f) {
			_ = root.RemoveAll(name)
		}
		f.Close()
	}
}

// at reports whether a path still is an open file.
func at(path string, f *os.File) bool {
	there, err1 := os.Lstat(path)
	open, err2 := f.Stat()
	return err1 == nil && err2 == nil && os.SameFile(there, open)
}
