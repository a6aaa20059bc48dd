package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Wrap turns a command that was not started into one that runs confined, with the same arguments, files and directory. Of the environment,
// the command gets the part that [Environment] returns, with TMPDIR, the caches and the proxies of the policy. After the command ended, or if it
// could not be started, the caller closes the result.
//
// [Confined.Start] starts the command. All processes that it starts end with it. Its exit code is that of the command; if a signal ended it, 128 and the number of the
// signal, as in a shell. The program must call [Main].
//
// An [UnavailableError] reports a missing wall; the command has not run then and must not be started.
func (p *Policy) Wrap(cmd *exec.Cmd) (*Confined, error) {
	if err := p.ready(cmd); err != nil {
		return nil, err
	}
	if a := cmd.SysProcAttr; a != nil && (a.Credential != nil || a.Chroot != "" || a.Cloneflags != 0) {
		return nil, errors.New("sandbox: the command changes its user, its root or its namespaces; leave that to the sandbox")
	}
	report := p.look()
	c := &Confined{Level: report.Level(), policy: p}
	if p.Shares() {
		c.start = p.Loopback.start
	}
	if err := p.check(report, c); err != nil {
		return nil, err
	}
	s, err := p.spec(cmd, c, report)
	if err == nil {
		err = c.hand(cmd, s)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), c.Close())
	}
	return c, nil
}

// check refuses a policy that cannot be enforced here, and notes the gaps.
func (p *Policy) check(r Report, c *Confined) error {
	switch c.Level {
	case Namespaces:
		return nil
	case "":
		return &UnavailableError{Wall: "no Landlock and no namespaces", Why: r.Trouble, Do: "use a kernel from 5.13 on, or run outside by decision"}
	}
	missing := func(wall string) error {
		return &UnavailableError{Wall: wall, Why: r.Trouble, Do: "allow user namespaces or install bubblewrap (see 'tenon doctor sandbox'), or accept weaker walls"}
	}
	if len(p.Network.Hosts) > 0 && !p.Network.Open {
		return missing("named hosts need a network namespace")
	}
	if !p.Partial {
		return missing("no namespaces")
	}
	c.Gaps = []string{
		"protected files in a writable tree can be written, and hidden files there can be read",
		"the names of all files are visible, and /tmp is that of the machine, read only",
		"processes of the machine are visible",
		"the times of files of this user can be changed, and their modes without the bits that give rights",
	}
	return nil
}

func (p *Policy) spec(cmd *exec.Cmd, c *Confined, report Report) (*spec, error) {
	s := &spec{view: view{Level: c.Level}, Open: p.Network.Open, Limits: p.Limits, Args: cmd.Args, Extra: len(cmd.ExtraFiles)}
	if s.Limits.Processes == 0 {
		s.Limits.Processes = defaultProcesses
	}
	if s.Limits.Temporary == 0 {
		s.Limits.Temporary = machine() / 4
	}
	s.Port = proxyPort
	if report.Borrowed && c.Level == Namespaces {
		var err error
		if s.Bubblewrap, err = findBubblewrap(bubblewrapPlaces()); err != nil {
			return nil, &UnavailableError{Wall: "no namespaces", Why: err.Error(), Do: "see tenon doctor sandbox"}
		}
		s.Port = proxyPortBorrowed
	}
	if c.Level != Namespaces || s.Bubblewrap != "" {
		s.Limits.Processes = p.Limits.Processes // it may count what the user runs outside too
	}
	if err := s.paths(p, c); err != nil {
		return nil, err
	}
	if c.Level == Namespaces {
		if err := s.sockets(c); err != nil {
			return nil, err
		}
	}
	if s.Bubblewrap != "" {
		if err := s.witness(); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Shared = p.Shares(); s.Shared {
		if err := p.Loopback.begin(p.Network.Hosts); err != nil {
			return nil, err
		}
	}
	s.Proxy = !p.Network.Open && len(p.Network.Hosts) > 0
	switch {
	case s.Proxy && s.Shared:
		if c.inner, s.Port, err = p.Loopback.proxyAt(); err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
	case s.Proxy:
		s.Relays = relays(p.Network.Hosts)
	}
	s.Env = p.environment(cmd.Environ(), s)
	if s.Dir, err = filepath.Abs(cmd.Dir); err != nil {
		return nil, err
	}
	c.dir = s.Dir
	s.Path = cmd.Path
	if !filepath.IsAbs(s.Path) {
		s.Path = filepath.Join(s.Dir, s.Path)
	}
	return s, nil
}

// machine returns the memory of the machine.
func machine() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 4 << 30
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// environment returns the environment of the command.
func (p *Policy) environment(env []string, s *spec) []string {
	env = Environment(env, p.Keep, p.Secret)
	temp := "/tmp"
	switch {
	case len(s.Temps) > 0:
	case s.Temp != "":
		temp = s.Temp
	case s.Level != Namespaces && len(s.Writes) > 0:
		temp = s.Writes[0] // there is nowhere else
	}
	dir := s.Caches
	if dir == "" {
		dir = filepath.Join(temp, ".caches")
	}
	env = append(env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	s.layers(env)
	env = append(env, caches(dir, s.Writes, env, s.Open || s.Proxy)...)
	if s.Proxy {
		env = append(env, proxies(s.Port, p.Network.Hosts, true, env)...)
	}
	return once(env)
}

// hand makes cmd start the helper, and gives that the spec.
func (c *Confined) hand(cmd *exec.Cmd, s *spec) error {
	g := c.group()
	s.Group = g != nil
	l, err := write(s)
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		l.file.Close()
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
	files := []*os.File{l.file, theirs}
	if s.Group {
		files = append(files, g.procs)
	}
	c.finish = func() error {
		ours.Close()
		theirs.Close()
		defer l.file.Close()
		for _, f := range c.opened {
			f.Close()
		}
		t := l.heard()
		c.Signal, c.Left = t.Signal, t.Left
		if ended := cmd.ProcessState; s.Bubblewrap != "" && !t.Inside && t.Wall == "" && ended != nil && ended.Exited() {
			t.Wall, t.Why = "bubblewrap", fmt.Sprintf("it gave up with code %d, and what it wrote says why", ended.ExitCode())
		}
		return t.err()
	}
	if c.inner != nil {
		if c.proxy, err = newProxy(c.policy.Network.Hosts, c.inner, func() ([]net.Listener, error) { return []net.Listener{c.inner}, nil }); err != nil {
			return err
		}
	} else if s.Proxy {
		conn, err := net.FileConn(ours)
		if err != nil {
			return err
		}
		receive := func() ([]net.Listener, error) { return receiveListeners(conn.(*net.UnixConn)) }
		if c.proxy, err = newProxy(c.policy.Network.Hosts, conn, receive); err != nil {
			conn.Close()
			return err
		}
	}
	number := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles[:len(cmd.ExtraFiles):len(cmd.ExtraFiles)], files...)
	cmd.Path, cmd.Args = "/proc/self/exe", []string{helperName, strconv.Itoa(number)}
	if s.Bubblewrap != "" {
		opened, err := s.borrow(cmd, number)
		c.opened = opened
		if err != nil {
			return err
		}
	}
	cmd.Dir, cmd.Env = "/", []string{helperMark + "=1"}
	cmd.SysProcAttr = namespaces(cmd.SysProcAttr, s)
	return nil
}

// err is what an answer of the helper means.
func (t answer) err() error {
	if t.Wall == "" {
		return nil
	}
	return &UnavailableError{Wall: t.Wall, Why: t.Why, Do: "see tenon doctor sandbox"}
}

// namespaces adds those of the level to what the caller wants.
func namespaces(attr *syscall.SysProcAttr, s *spec) *syscall.SysProcAttr {
	made := syscall.SysProcAttr{}
	if attr != nil {
		made = *attr
	}
	if s.Level != Namespaces || s.Bubblewrap != "" {
		return &made
	}
	made.Cloneflags = unix.CLONE_NEWUSER | namespacesOfCommand
	if !s.Open {
		made.Cloneflags |= unix.CLONE_NEWNET
	}
	ownUsers(&made)
	return &made
}

// namespacesOfCommand is the namespaces of each command, besides those for users and the network.
const namespacesOfCommand = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// ownUsers prepares a new namespace for users, in which the process has rights.
func ownUsers(attr *syscall.SysProcAttr) {
	attr.UidMappings, attr.GidMappings = sameIDs("uid", os.Geteuid()), sameIDs("gid", os.Getegid())
	attr.GidMappingsEnableSetgroups = os.Geteuid() == 0
	if os.Geteuid() != 0 { // only root keeps them when another program starts; the helper drops all before the command does
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}
	}
}

// sameIDs maps every id to itself: for root all that it has, so that the owners of files show, for others their own.
func sameIDs(kind string, own int) []syscall.SysProcIDMap {
	if os.Geteuid() != 0 {
		return []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	}
	text, err := os.ReadFile("/proc/self/" + kind + "_map")
	if err != nil {
		return nil
	}
	var ids []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var inside, outside, size int
		if n, _ := fmt.Sscan(line, &inside, &outside, &size); n == 3 {
			ids = append(ids, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	return ids
}
