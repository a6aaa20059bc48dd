package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// changedAt and number are when the system last noted a change of a file, and which file it is.
func changedAt(info fs.FileInfo) (nanoseconds int64, number uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctim.Nano(), s.Ino
}

// links returns the number of names of a file.
func links(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// statAt looks at an entry of an open directory: the kernel need not go down the whole path again for each.
// Linked reports whether it is a file with several names.
func statAt(dir *os.File, entry fs.DirEntry) (_ stat, linked bool, err error) {
	var s unix.Stat_t
	for {
		err = unix.Fstatat(int(dir.Fd()), entry.Name(), &s, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return stat{}, false, err
		}
		break
	}
	mode := fs.FileMode(s.Mode & 0o777)
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFREG:
	default:
		mode |= fs.ModeIrregular
	}
	if s.Mode&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if s.Mode&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if s.Mode&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return stat{size: s.Size, modified: s.Mtim.Nano(), changed: s.Ctim.Nano(), number: s.Ino, mode: mode}, s.Nlink > 1 && mode.IsRegular(), nil
}
