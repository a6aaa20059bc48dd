package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// cover is an empty directory in the place of a protected path that does not exist, so that there is something to mount on.
// Several commands, also of several processes, may use one: each holds a shared lock, and the last one removes it. The sticky bit
// distinguishes it from a directory of the person; so one that a killed process left goes with the next command.
type cover struct {
	path string
	dir  *os.File
}

// newCover makes the directory, or takes part in one that is there.
func newCover(path string) (*cover, error) {
	for range 100 {
		if err := os.Mkdir(path, 0o755|os.ModeSticky); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c := &cover{path, dir}
		if unix.Flock(int(dir.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil && c.there() {
			return c, nil
		}
		dir.Close() // it was just removed
	}
	return nil, fmt.Errorf("%s comes and goes", path)
}

// IsCover reports whether a path, of which the mode is known, is an empty directory that a sandbox has put there for commands that
// run, or ran when their process was killed.
func IsCover(path string, mode fs.FileMode) bool {
	if mode&^(0o755|fs.ModeSetgid) != fs.ModeDir|fs.ModeSticky { // the group may come from the directory above
		return false
	}
	names, err := os.ReadDir(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0
}

// there reports whether the directory is still the one at the path.
func (c *cover) there() bool {
	mine, err1 := c.dir.Stat()
	now, err2 := os.Lstat(c.path)
	return err1 == nil && err2 == nil && os.SameFile(mine, now)
}

func (c *cover) remove() {
	defer c.dir.Close()
	if unix.Flock(int(c.dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && c.there() {
		_ = os.Remove(c.path) // only when it is empty
	}
}
