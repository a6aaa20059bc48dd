//go:build unix

package gitdir

import (
	"errors"
	"os"
	"syscall"
)

// nonblock lets an open of a pipe return at once.
const nonblock = syscall.O_NONBLOCK

// hold opens a directory of this user and locks it until it is closed or this process ends. It fails if another process holds the directory.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if stat, ok := info.Sys().(*syscall.Stat_t); err == nil && (!ok || int(stat.Uid) != os.Geteuid()) {
		err = os.ErrPermission
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
