package attach

import "golang.org/x/sys/unix"

// peerOf returns the account at the other end of a socket.
func peerOf(fd int) (uid, pid int, err error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return int(c.Uid), 0, nil
}
