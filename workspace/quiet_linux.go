package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// events is an inotify queue with a watch for each directory. The zero value has none.
type events struct {
	fd   int // 0: there is no queue
	off  bool
	most int // watches
	dirs map[int32]string

	appeared map[string]bool // names, since the last look whose result is known
}

const watched = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// local are the file systems of which this kernel makes all changes, see statfs(2).
var local = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true,
	unix.TMPFS_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true, 0xca451a4e /* bcachefs */ : true, 0x2fc12fc1 /* ZFS */ : true,
}

// watch asks for events of an open directory, before its entries are read. It reports whether the kernel sends all of them.
func (e *events) watch(dir *os.File, abs string) bool {
	if e.fd == 0 {
		e.open()
	}
	var fs unix.Statfs_t
	fd := int(dir.Fd())
	if e.off || len(e.dirs) >= e.most || unix.Fstatfs(fd, &fs) != nil || !local[int64(fs.Type)] {
		return false
	}
	wd, err := unix.InotifyAddWatch(e.fd, "/proc/self/fd/"+strconv.Itoa(fd), watched|unix.IN_ONLYDIR)
	if err != nil {
		return false
	}
	e.dirs[int32(wd)] = abs
	return true
}

// open makes the queue. It takes a fourth of the watches that a person may have at most: editors and servers want some, too.
func (e *events) open() {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		e.off = true
		return
	}
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	most, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	e.fd, e.most, e.dirs, e.appeared = fd, most/4, map[int32]string{}, map[string]bool{}
}

func (e *events) close() {
	if e.fd > 0 {
		_ = unix.Close(e.fd)
	}
	*e = events{}
}

// kept forgets the names that appeared: a look has seen what came of them.
func (e *events) kept() { clear(e.appeared) }

// take reads the events, and calls disturb with each directory in which something happened. It reports false if it cannot know of all.
func (e *events) take(disturb func(dir string)) bool {
	if e.fd == 0 {
		return true
	}
	complete := true
	for buf := make([]byte, 64<<10); ; {
		n, err := unix.Read(e.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return complete
		}
		if err != nil || n < unix.SizeofInotifyEvent {
			e.close()
			e.off = true
			return false
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
			size := unix.SizeofInotifyEvent + int(event.Len)
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:size], []byte{0})
			rest = rest[size:]
			complete = e.handle(event, string(name), disturb) && complete
		}
	}
}

// handle reports false if a look must visit all directories: the kernel has not sent all events, or a name that appeared is gone again or was
// replaced. It may have been a link to a file that was changed by it, which is no event where the file lies. In a new directory there may have
// been such names. Looks see links that are still there.
func (e *events) handle(event *unix.InotifyEvent, base string, disturb func(dir string)) (complete bool) {
	dir, known := e.dirs[event.Wd]
	has := func(mask uint32) bool { return event.Mask&mask != 0 }
	switch {
	case has(unix.IN_Q_OVERFLOW | unix.IN_UNMOUNT):
		return false
	case !known:
		return true // the directory is gone
	case has(unix.IN_IGNORED):
		delete(e.dirs, event.Wd)
	}
	disturb(dir)
	name := filepath.Join(dir, base)
	switch {
	case strings.HasPrefix(base, tempPrefix): // tools write to it
		return true
	case has(unix.IN_ISDIR):
		return !has(unix.IN_CREATE | unix.IN_MOVED_TO)
	case has(unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO):
		complete = !e.appeared[name]
		if has(unix.IN_CREATE | unix.IN_MOVED_TO) {
			e.appeared[name] = true
		}
		return complete
	}
	return true
}
