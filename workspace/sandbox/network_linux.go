package sandbox

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// proxyPort is where the proxy listens inside: below 1024, where no test of a program listens by itself. In what bubblewrap made
// the helper has no right to that, and takes one above those that the system gives away.
const (
	proxyPort         = 1023
	proxyPortBorrowed = 61023
)

// network brings up the loopback interface of the new namespace and, when a proxy waits for it, hands that the sockets on which
// it is to listen inside.
func (s *spec) network(control int) error {
	if s.Open || s.Shared {
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
	return wall("proxy", sendListeners(control, s.Port, s.Relays))
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

// sendListeners sends the socket of the proxy and behind it those of the relays. Where this process may not listen, as on the ports
// below 1024 of what bubblewrap made, there is no relay, and the proxy is the only way.
func sendListeners(control, port int, relays []netip.AddrPort) error {
	fd, err := listenAt(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)))
	if err != nil {
		return err
	}
	fds := []int{fd}
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	for _, at := range relays {
		if fd, err := listenAt(at); err == nil {
			fds = append(fds, fd)
		}
	}
	return unix.Sendmsg(control, []byte{0}, unix.UnixRights(fds...), nil, 0)
}

func sockaddr(at netip.AddrPort) (family int, address unix.Sockaddr) {
	if at.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
}

func listenAt(at netip.AddrPort) (int, error) {
	family, address := sockaddr(at)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := errors.Join(unix.Bind(fd, address), unix.Listen(fd, 128)); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
