package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/workspace/host"
)

// A process without privileges cannot enter the network of another user namespace. So the network has a keeper: this program, started as a
// process that is in the network and has the rights there. It makes sockets, which this process binds and connects, and starts the helpers
// of commands. Their parent is this process.
type keeping struct {
	mu      sync.Mutex
	keeper  *exec.Cmd // nil: there is no network
	control *os.File
	hosts   []string // that commands in the network reach
	relays  []*proxy // to servers of this machine
}

// keeperName is the second argument of a keeper.
const keeperName = "network"

// begin starts a keeper, unless there is one. A network whose commands reach other hosts than these is left to them, and a new one begins.
func (l *Loopback) begin(hosts []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeper != nil && narrows(l.hosts, hosts) {
		l.end()
	}
	if l.keeper != nil {
		if _, err := l.ask("ping"); err == nil {
			return l.relay(hosts)
		}
		l.end()
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "network"), os.NewFile(uintptr(pair[1]), "network")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{helperName, keeperName}, []string{helperMark + "=1"}, "/", []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET}
	ownUsers(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		ours.Close()
		return err
	}
	l.keeper, l.control = cmd, ours
	if _, err := l.ask("ping"); err != nil {
		l.end()
		return err
	}
	return l.relay(hosts)
}

// relay makes servers of this machine reachable that are listed with their ports. mu is held.
func (l *Loopback) relay(hosts []string) error {
	l.hosts = hosts
	list, err := host.Parse(hosts...)
	if err != nil {
		return err
	}
	var p *proxy
	for _, at := range relays(hosts) {
		in, err := l.listen(at)
		if err != nil {
			continue // it is there already, or a command listens there
		}
		if p == nil {
			p = newRelays(list)
			l.relays = append(l.relays, p)
		}
		p.served.Go(func() { p.relay(in) })
	}
	return nil
}

// end lets the keeper end. mu is held.
func (l *Loopback) end() {
	if l.keeper == nil {
		return
	}
	l.control.Close()
	_ = l.keeper.Wait()
	for _, p := range l.relays {
		p.close()
	}
	l.keeper, l.control, l.hosts, l.relays = nil, nil, nil, nil
}

// Close ends the network. Commands that run keep it.
func (l *Loopback) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	return nil
}

// ask sends a request to the keeper, with files, and returns its answer: a number or, for a socket, a file. mu is held.
func (l *Loopback) ask(request string, files ...*os.File) (answer int, err error) {
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	control := int(l.control.Fd())
	if err := unix.Sendmsg(control, []byte(request), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
		return 0, fmt.Errorf("the network of the session: %w", err)
	}
	text, got, err := receive(control)
	switch {
	case err != nil:
		return 0, fmt.Errorf("the network of the session: %w", err)
	case len(got) > 0:
		return got[0], nil
	}
	answer, err = strconv.Atoi(text)
	if err != nil {
		err = errors.New(text)
	}
	return answer, err
}

// receive returns a message with its files.
func receive(control int) (text string, files []int, err error) {
	buf, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4*64))
	var n, m int
	for {
		if n, m, _, _, err = unix.Recvmsg(control, buf, rights, unix.MSG_CMSG_CLOEXEC); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil && n == 0 {
		err = errors.New("its process has ended")
	}
	if err != nil {
		return "", nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err == nil && len(messages) > 0 {
		files, err = unix.ParseUnixRights(&messages[0])
	}
	return string(buf[:n]), files, err
}

// listen makes a socket listen in the network. mu is held.
func (l *Loopback) listen(at netip.AddrPort) (net.Listener, error) {
	family, address := sockaddr(at)
	fd, err := l.ask("socket " + strconv.Itoa(family))
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	if err := errors.Join(unix.Bind(fd, address), unix.Listen(fd, 128)); err != nil {
		return nil, err
	}
	return net.FileListener(f)
}

// proxyAt returns a listener for the proxy of one command, and its port.
func (l *Loopback) proxyAt() (in net.Listener, port int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeper == nil {
		return nil, 0, errNoServer
	}
	const last = 512
	for port = proxyPort; port >= last; port-- {
		in, err = l.listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)))
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
	}
	return in, port, err
}

// Dial connects to a loopback address in the network: localhost, 127.0.0.1 or ::1, with a port.
func (l *Loopback) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	names := []string{name}
	if name == "localhost" {
		names = []string{"127.0.0.1", "::1"}
	}
	for _, name := range names {
		at, failed := netip.ParseAddrPort(net.JoinHostPort(name, port))
		if failed != nil || !at.Addr().IsLoopback() {
			return nil, fmt.Errorf("%s is not in the network of the session", address)
		}
		var c net.Conn
		if c, failed = l.connect(ctx, at); failed == nil {
			return c, nil
		}
		err = errors.Join(err, fmt.Errorf("connect to %s in the sandbox: %w", at, failed))
	}
	return nil, err
}

func (l *Loopback) connect(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	family, address := sockaddr(at)
	l.mu.Lock()
	fd, err := -1, errNoServer
	if l.keeper != nil {
		fd, err = l.ask("socket " + strconv.Itoa(family))
	}
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	err = unix.SetNonblock(fd, true)
	f := os.NewFile(uintptr(fd), at.String())
	defer f.Close()
	if err != nil {
		return nil, err
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	begun, failed := false, error(nil)
	err = conn.Write(func(fd uintptr) bool {
		if !begun {
			begun, failed = true, unix.Connect(int(fd), address)
			return !errors.Is(failed, unix.EINPROGRESS)
		}
		var code int
		if code, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR); failed == nil && code != 0 {
			failed = unix.Errno(code)
		}
		_, unconnected := unix.Getpeername(int(fd)) // a socket counts as ready before it begins to connect, too
		return failed != nil || unconnected == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	return net.FileConn(f)
}

// start starts the helper of a command in the network. It is a child of this process.
func (l *Loopback) start(cmd *exec.Cmd) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	files := []*os.File{null, null, null}
	for i, one := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		switch f, is := one.(*os.File); {
		case is:
			files[i] = f
		case one != nil:
			return errors.New("sandbox: input and output of a command in a shared network must be files")
		}
	}
	session := cmd.SysProcAttr != nil && cmd.SysProcAttr.Setsid
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeper == nil {
		return errNoServer
	}
	pid, err := l.ask(fmt.Sprintf("start %s %v", cmd.Args[1], session), append(files, cmd.ExtraFiles...)...)
	if err != nil {
		return err
	}
	cmd.Process, err = os.FindProcess(pid)
	return err
}

// keep is the keeper. It ends when the process that started it closes the socket or ends.
func keep(control int) int {
	if err := errors.Join(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0), loopbackUp()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return notRun
	}
	for {
		text, files, err := receive(control)
		if err != nil {
			return 0
		}
		answer, socket := serve(strings.Fields(text), files)
		for _, fd := range files {
			unix.Close(fd)
		}
		var rights []byte
		if socket >= 0 {
			rights = unix.UnixRights(socket)
		}
		err = unix.Sendmsg(control, []byte(answer), rights, nil, unix.MSG_NOSIGNAL)
		_ = unix.Close(socket)
		if err != nil {
			return 0
		}
	}
}

// serve carries out one request.
func serve(words []string, files []int) (answer string, socket int) {
	switch {
	case len(words) == 2 && words[0] == "socket":
		family, err := strconv.Atoi(words[1])
		if err == nil {
			socket, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		}
		if err == nil {
			return "0", socket
		}
		return err.Error(), -1
	case len(words) == 3 && words[0] == "start":
		attr := &syscall.ProcAttr{Dir: "/", Env: []string{helperMark + "=1"}, Sys: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_PARENT | namespacesOfCommand, Setsid: words[2] == "true",
		}}
		for _, fd := range files {
			attr.Files = append(attr.Files, uintptr(fd))
		}
		pid, err := syscall.ForkExec("/proc/self/exe", []string{helperName, words[1]}, attr)
		if err != nil {
			return err.Error(), -1
		}
		return strconv.Itoa(pid), -1
	}
	return "0", -1
}
