package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// proxyPort is where the proxy listens inside: below 1024, where no test of a program listens by itself. In what bubblewrap made
// the helper has no right to that, and takes one above those that the system gives away.
const (
	proxyPort         = 1023
	proxyPortBorrowed = 61023
)

// network brings up the loopback interface of the new namespace and, when a proxy waits for it, hands that the socket on which
// it is to listen inside.
func (s *spec) network(control int) error {
	if s.Open {
		return nil
	}
	if s.Bubblewrap == "" {
		if err := loopbackUp(); err != nil {
			return err
		}
	}
	if !s.Proxy {
		return nil
	}
	return wall("proxy", sendListener(control, s.Port))
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return wall("network", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return wall("network", err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return wall("network", fmt.Errorf("loopback: %w", err))
	}
	return nil
}

func sendListener(control, port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, 128); err != nil {
		return err
	}
	return unix.Sendmsg(control, []byte{0}, unix.UnixRights(fd), nil, 0)
}
