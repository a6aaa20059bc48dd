//go:build linux || darwin

package attach

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

const supported = true

// owned reports whether a file belongs to this account.
func owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// checkPeer returns an error unless the process at the other end belongs to this account and, on Linux, sees the same mounts. A process in a
// sandbox sees others.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var uid, pid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, pid, failed = peerOf(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%w: cannot see who connects: %w", ErrRefused, failed)
	}
	if uid != os.Getuid() {
		return fmt.Errorf("%w: the other process belongs to another account", ErrRefused)
	}
	here, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return nil // without /proc, the account decides
	}
	if there, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid)); err != nil || there != here {
		return fmt.Errorf("%w: the other process is in a sandbox or a container", ErrRefused)
	}
	return nil
}
