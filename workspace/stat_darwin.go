package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// changedAt and number are when the system last noted a change of a file, and which file it is.
func changedAt(info fs.FileInfo) (nanoseconds int64, number uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctimespec.Nano(), s.Ino
}

// links returns the number of names of a file.
func links(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// statAt looks at an entry of an open directory.
func statAt(_ *os.File, entry fs.DirEntry) (_ stat, linked bool, err error) {
	info, err := entry.Info()
	if err != nil {
		return stat{}, false, err
	}
	return statOf(info), false, nil
}
