package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/workspace/host"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Policy is the paths and hosts that a command may use. It can read every path that is not hidden, and write no path that is not listed. All
// paths are absolute. Links in them are followed, and missing paths are left out, unless a field says otherwise. The target of a link in a
// writable tree is left out, too, because a command may have made the link: list its target. The fields must not change once the policy is in
// use; it may be used concurrently, and must not be copied then.
type Policy struct {
	Writable  []string // trees that may be written
	Readable  []string // trees that can be read although they lie in a covered or hidden tree, such as the host's /tmp, or in Homes
	Protected []string // inside Writable, but read only. Their parents cannot be renamed. Missing ones cannot be made
	Absent    []string // files that are protected if they exist; if not, files that a command makes there are removed and reported
	Hidden    []string // trees and files that cannot be read: secrets. Inside Writable, their parents cannot be renamed

	Git []string // git directories in Writable, for which the starter of commands makes views

	// Views are directories with a private top level.
	Views []View

	// Homes are directories of which a command sees only the parts in Writable and Readable, and Files. On Linux they are empty directories
	// otherwise, so that nothing can appear in them later. A directory that is or contains a writable tree's root is left as it is, and
	// so are all on macOS: there only Hidden counts.
	Homes []string
	Files map[string]string // texts of files in Homes, by path

	Network  Network
	Loopback *Loopback // the network of a session, which commands share where the system can; nil: each command has its own
	Temp     string    // a private directory for temporary files, made with the first command; default: memory, emptied after each command
	Caches   string    // a private directory for the caches of toolchains; default, and if it cannot be made: none, they use Temp
	Keep     []string  // names of environment variables that pass although programs do not need them: see [Environment]
	Secret   []string  // names of environment variables that never pass
	Limits   Limits

	// Partial lets commands run on machines without namespaces, inside walls with gaps: see [Confined.Gaps].
	Partial bool

	once    sync.Once
	machine Report  // what this machine can do, looked up with the first command
	of      *Policy // the policy that this one is a copy of, and whose look at the machine it shares; nil: none
}

// View is a directory of which a command sees a copy, which is writable, with parts of the directory itself in it. Protected paths in it are
// those of the view.
type View struct {
	Path, Private string
	Live          []string // names in Path of directories that show in Place, writable: the private directory has links to them. No links can be made there
	Place         string   // below [LivePlace]
	Fixed         []string // names in both that show what is in Path, read-only
}

// LivePlace contains the places of live directories. It is in no tree that commands can write.
const LivePlace = "/dev/.live"

// Network is the hosts that a command may reach. The zero value is none but itself: a server on 127.0.0.1 inside works.
type Network struct {
	Open bool // everything that this process can reach

	// Hosts may be reached through the proxy, unless the network is open: "example.com", "*.example.com" (all below it),
	// "10.0.0.0/8", "192.0.2.1", each also with ":port". Private, loopback and link-local addresses, and with them the
	// metadata services of clouds, are refused unless an address or a range of them is listed, whatever name leads there.
	Hosts []string
}

// Limits bound the resources of a command. Zero is no limit, unless a field says otherwise.
type Limits struct {
	Processes int   // processes and threads at a time; default 4096. As root it needs Linux 6.14, and is at least 301; not with bubblewrap
	Memory    int64 // bytes of private memory of each process
	FileSize  int64 // bytes of each file written
	Together  int64 // bytes of memory and temporary files of all processes together; default three quarters of the machine's. Only with [Report.Groups]
	Temporary int64 // bytes of temporary files in memory, of all processes together; default a quarter of the machine's memory
	Files     int   // open files of each process
}

// Report is the means of a machine to confine commands.
type Report struct {
	System     string // the operating system and its kernel
	Namespaces bool   // mount, process, network and IPC namespaces can be made and filled
	Borrowed   bool   // not by this program, but by bubblewrap for it
	Trouble    string // the reason why this program cannot make them
	Landlock   int    // version of its interface; 0: none
	Seccomp    bool
	Bubblewrap string // path and version, if it is installed, or the reason why it is not used; only if this program may make no namespaces
	Seatbelt   bool   // sandbox-exec of macOS
	Groups     string // control group of this process, next to which it may make others, on Linux
}

// Level is a way to confine commands.
type Level string

// The levels, strongest first.
const (
	Namespaces Level = "namespaces" // namespaces, Landlock and seccomp
	Seatbelt   Level = "seatbelt"   // a profile of macOS
	Partly     Level = "partly"     // Landlock and seccomp alone
)

// Level returns the level of commands on such a machine, and "" if they cannot be confined.
func (r Report) Level() Level {
	switch {
	case r.Namespaces && r.Seccomp:
		return Namespaces
	case r.Seatbelt:
		return Seatbelt
	case r.Landlock > 0 && r.Seccomp:
		return Partly
	}
	return ""
}

// Level returns the level of commands of the policy on this machine.
func (p *Policy) Level() Level { return p.look().Level() }

// copy returns a policy with the same fields. Only one of the two looks at the machine.
func (p *Policy) copy() *Policy {
	return &Policy{
		Writable: p.Writable, Readable: p.Readable, Protected: p.Protected, Absent: p.Absent, Hidden: p.Hidden, Homes: p.Homes, Files: p.Files,
		Views: p.Views, Git: p.Git, Network: p.Network, Loopback: p.Loopback, Temp: p.Temp, Caches: p.Caches, Keep: p.Keep, Secret: p.Secret, Limits: p.Limits,
		Partial: p.Partial, of: cmp.Or(p.of, p),
	}
}

// Scratch returns Temp with the names that commands have for it. With namespaces these are /tmp and /var/tmp; otherwise it has its own.
func (p *Policy) Scratch() paths.Scratch {
	if p.Temp == "" || p.Level() == "" {
		return paths.Scratch{}
	}
	s := paths.Scratch{Dir: p.Temp, Names: []string{p.Temp}}
	if p.Level() != Namespaces || followed("/tmp") != "/tmp" {
		return s
	}
	s.Names = []string{"/tmp"}
	if followed("/var/tmp") == "/var/tmp" {
		s.Names = append(s.Names, "/var/tmp")
	}
	for _, dir := range slices.Concat(p.Writable, p.Readable, p.Homes, p.Hidden) {
		if _, ok := paths.In(s.Names, dir); ok {
			s.Own = append(s.Own, dir)
		}
	}
	return s
}

// Session returns a policy with the directory for temporary files and the network of a session.
func (p *Policy) Session(temp string, network *Loopback) *Policy {
	c := p.copy()
	c.Temp, c.Loopback = temp, network
	return c
}

// Show returns a policy that lets commands read further trees, also if they lie in hidden ones.
func (p *Policy) Show(readable ...string) *Policy {
	s := p.copy()
	s.Readable = slices.Concat(p.Readable, readable)
	return s
}

// Pass returns a policy that lets further environment variables pass.
func (p *Policy) Pass(names ...string) *Policy {
	c := p.copy()
	c.Keep = slices.Concat(p.Keep, names)
	return c
}

// Reach returns a policy that lets commands reach further hosts, such as those of an approved call. It leaves out loopback addresses, which mean
// the sandbox itself, and texts that are no hosts. Without namespaces, commands reach no host. With further hosts, commands have a network of their
// own, so that no other command reaches the hosts through them.
func (p *Policy) Reach(hosts ...string) *Policy {
	if p.Level() == Partly {
		return p
	}
	c := p.copy()
	c.Network.Hosts = slices.Clip(c.Network.Hosts)
	have, _ := host.Parse(p.Network.Hosts...)
	for _, text := range hosts {
		list, err := host.Parse(text)
		inside := func(h host.Pattern) bool {
			at := h.Prefix.Addr()
			return h.Prefix.IsValid() && (at.IsLoopback() || at.IsUnspecified()) || h.Name == "localhost" || strings.HasSuffix(h.Name, ".localhost")
		}
		if err == nil && !have.Covers(list) && !slices.ContainsFunc(list, inside) {
			c.Network.Hosts, c.Loopback = append(c.Network.Hosts, text), nil
		}
	}
	return c
}

// See returns a policy that shows views, and protects further paths.
func (p *Policy) See(views []View, protected []string) *Policy {
	c := p.copy()
	c.Views, c.Protected = slices.Concat(p.Views, views), slices.Concat(p.Protected, protected)
	return c
}

// Narrow returns a policy that lets commands write only the parts of Writable that lie in some files and directories, which have no links, and
// read all of Writable.
func (p *Policy) Narrow(writable []string) *Policy {
	n := p.copy()
	n.Writable = nil
	for _, name := range writable {
		if slices.ContainsFunc(p.Writable, func(dir string) bool { return paths.Inside(followed(dir), name) }) {
			n.Writable = append(n.Writable, name)
		}
	}
	for _, dir := range p.Writable {
		if _, ok := paths.In(writable, followed(dir)); ok {
			n.Writable = append(n.Writable, dir)
		} else {
			n.Readable = append(slices.Clip(n.Readable), dir)
		}
	}
	return n
}

// look looks once for each policy and its copies.
func (p *Policy) look() Report {
	if p.of != nil {
		return p.of.look()
	}
	p.once.Do(func() { p.machine = Look() })
	return p.machine
}

// UnavailableError reports that a command did not run, because a wall that the policy promises is not available.
type UnavailableError struct {
	Wall string // the missing wall
	Why  string
	Do   string // a remedy
}

// Code returns "sandbox.unavailable".
func (e *UnavailableError) Code() string { return "sandbox.unavailable" }

// Error implements [error].
func (e *UnavailableError) Error() string {
	text := "the sandbox cannot confine commands here: " + e.Wall
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Do != "" {
		text += "; " + e.Do
	}
	return text + ". The command was not run"
}
