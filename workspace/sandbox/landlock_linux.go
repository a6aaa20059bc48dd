package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

const (
	landRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

	landWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM

	landDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK

	// What holds for a file too, and not only for a directory.
	landFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// scopes is the version that keeps a command from sockets with names that are no paths, and from processes outside.
const scopes = 6

// ruleset is the attributes of the kernel's interface.
type ruleset struct {
	fs, net, scoped uint64
}

// landlockVersion is the version of the kernel's interface, and 0 without it.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlock is the second wall next to the mounts, and the first without them. It holds for this thread and the processes that it starts. If the
// kernel has no Landlock, the mounts are the only wall.
func (s *spec) landlock() error {
	version := landlockVersion()
	if version == 0 {
		if s.Level == Namespaces {
			return nil
		}
		return errors.New("the kernel has none")
	}
	set, size := handled(version)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set)), size, 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	l := land{fd: int(fd), fs: set.fs}
	s.grant(&l)
	if l.err != nil {
		return l.err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// handled returns all rights that this version can judge: it refuses those that are not granted.
func handled(version int) (set ruleset, size uintptr) {
	set.fs = landRead | landWrite | landDevices
	size = unsafe.Sizeof(set.fs)
	if version >= 2 {
		set.fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		set.fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		set.fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= scopes {
		set.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Sizeof(set)
	}
	if version >= 9 {
		set.fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	return set, size
}

// grant allows what the policy does.
func (s *spec) grant(l *land) {
	const all = landRead | landWrite | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	const plain = all &^ (unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK)
	const device = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	if s.Level == Namespaces {
		l.allow("/", landRead)
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
			l.allow(dir, all)
		}
		l.allow("/dev", device)
	} else {
		l.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR) // names only
		hidden := slices.Concat(s.Hides, s.Empties, s.Homes)
		l.around("/", hidden)
		for _, w := range s.Shows {
			if hides(hidden, w.From) {
				l.around(w.From, hidden)
			} else {
				l.allow(w.From, landRead)
			}
		}
		for _, f := range s.Files {
			l.allow(f.Path, landRead) // as it is outside
		}
		for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
			l.allow("/dev/"+name, device|landRead)
		}
	}
	for _, dir := range s.Writes {
		if slices.Contains(s.Plain, dir) {
			l.allow(dir, plain)
		} else {
			l.allow(dir, all)
		}
	}
	for _, v := range s.Views {
		l.allow(v.Path, all)
		l.allow(v.Place, plain)
	}
	for _, dir := range s.Temps {
		l.allow(dir, all)
	}
}

// land is a set of rules that is being made, until the first error.
type land struct {
	fd  int
	fs  uint64
	err error
}

// allow grants rights to a tree or a file. What does not exist is left out.
func (l *land) allow(path string, rights uint64) {
	if l.err != nil {
		return
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) {
		return
	}
	if err != nil {
		l.err = fmt.Errorf("%s: %w", path, err)
		return
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		l.err = fmt.Errorf("%s: %w", path, err)
		return
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landFile
	}
	beneath := struct {
		rights uint64
		fd     int32
	}{rights & l.fs, int32(fd)}
	if beneath.rights == 0 {
		return
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(l.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		l.err = fmt.Errorf("%s: %w", path, errno)
	}
}

// around grants reading to everything in dir but what is hidden: a tree that was granted has no exceptions.
func (l *land) around(dir string, hidden []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // no process inside can read it, either
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0 || slices.Contains(hidden, path):
		case !hides(hidden, path) || path == "/proc": // there, who may look into whom is judged by the process
			l.allow(path, landRead)
		case e.IsDir():
			l.around(path, hidden)
		}
	}
}

// hides reports whether path is hidden or has something hidden below it.
func hides(hidden []string, path string) bool {
	for _, h := range hidden {
		if paths.Inside(path, h) {
			return true
		}
	}
	return false
}
