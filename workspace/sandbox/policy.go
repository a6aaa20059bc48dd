package sandbox

import (
	"sync"
)

// Policy is what a command may touch. Everything can be read that is not hidden, nothing can be written that is not named. All
// paths are absolute; links in them are followed, and those that do not exist are left out unless said otherwise. So is what a
// link in a writable tree leads to, which a command may have made: name its target. Its fields must not change once it is in use;
// it may be used concurrently, and must not be copied then.
type Policy struct {
	Writable  []string // trees that may be written
	Readable  []string // trees shown although they lie in a place that is covered, such as the host's /tmp
	Protected []string // inside Writable, but read only. Their parents cannot be renamed. What is missing cannot be made
	Absent    []string // files that are protected when they exist; when not, what a command leaves there is removed and told
	Hidden    []string // trees and files that cannot be read, nor seen into: secrets. Inside Writable, their parents cannot be renamed

	Network Network
	Temp    string   // a private directory for temporary files, seen as /tmp too; default: memory, emptied after each command
	Caches  string   // a private directory for what toolchains keep; default, and where it cannot be made: none, they use Temp
	Keep    []string // names of environment variables that pass although they look like secrets
	Limits  Limits

	// Partial lets commands run where the machine has no namespaces for us, behind walls with gaps: see [Confined.Gaps].
	Partial bool

	once    sync.Once
	machine Report // what this machine can do, looked up with the first command
}

// Network is what a command may reach. The zero value is nothing but itself: a server on 127.0.0.1 inside works.
type Network struct {
	Open bool // everything that this process can reach

	// Hosts is what may be reached through the proxy, when not everything: "example.com", "*.example.com" (all below it),
	// "10.0.0.0/8", "192.0.2.1", each also with ":port". Private, loopback and link-local addresses, and with them the
	// metadata services of clouds, are refused unless an address or a range of them is listed, whatever name leads there.
	Hosts []string
}

// Limits bounds what a command takes. Zero is no limit, except where said.
type Limits struct {
	Processes int   // processes and threads at a time; default 4096. As root it needs Linux 6.14, and is at least 301; not with bubblewrap
	Memory    int64 // bytes of private memory of each process
	FileSize  int64 // bytes of each file written
	Files     int   // open files of each process
}

// Report is what a machine can do to confine commands.
type Report struct {
	System     string // the operating system and its kernel
	Namespaces bool   // mount, process, network and IPC namespaces can be made and filled
	Borrowed   bool   // not by this program, but by bubblewrap for it
	Trouble    string // why not by this program
	Landlock   int    // version of its interface; 0: none
	Seccomp    bool
	Bubblewrap string // path and version, when installed, or why it is not used; it is looked at where this program may make no namespaces
	Seatbelt   bool   // sandbox-exec of macOS
}

// Level is how commands are confined.
type Level string

// The levels, strongest first.
const (
	Namespaces Level = "namespaces" // namespaces, Landlock and seccomp
	Seatbelt   Level = "seatbelt"   // a profile of macOS
	Partly     Level = "partly"     // Landlock and seccomp alone
)

// Level is the one that commands run at on such a machine, and "" when they cannot be confined.
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

// Level is how commands of the policy are confined on this machine.
func (p *Policy) Level() Level { return p.look().Level() }

// look looks once for each policy.
func (p *Policy) look() Report {
	p.once.Do(func() { p.machine = Look() })
	return p.machine
}

// UnavailableError says why a command was not run: a wall that the policy promises cannot be put up.
type UnavailableError struct {
	Wall string // what is missing
	Why  string
	Do   string // what to do about it
}

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
