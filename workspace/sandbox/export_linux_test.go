package sandbox

import (
	"encoding/binary"
	"os"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// LookBorrowed is Look on a machine that refuses namespaces to this program.
func LookBorrowed() Report {
	r := Look()
	if !r.Borrowed {
		r.Namespaces, r.Trouble = false, "refused for a test"
		r.borrow()
	}
	return r
}

// Keeper returns the number of the process that keeps the network; 0: there is none.
func (l *Loopback) Keeper() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeper == nil {
		return 0
	}
	return l.keeper.Process.Pid
}

// FindBubblewrap is where bubblewrap is looked for.
var FindBubblewrap = findBubblewrap

// ParseMounts returns the ids, paths and options of a table.
func ParseMounts(text string) (mounts []string, err error) {
	all, err := parseMounts(text)
	for _, m := range all {
		mounts = append(mounts, m.path)
	}
	return mounts, err
}

// Judged is what the filter of system calls answers to making a socket.
func Judged(level Level, open, scoped bool, family uint32) (uint32, error) {
	var raw []bpf.RawInstruction
	for _, i := range filter(level, open, scoped) {
		raw = append(raw, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	program, _ := bpf.Disassemble(raw)
	vm, err := bpf.NewVM(program)
	if err != nil {
		return 0, err
	}
	call := make([]byte, 64) // the machine of the package reads big-endian, whatever this one is
	binary.BigEndian.PutUint32(call[atCall:], unix.SYS_SOCKET)
	binary.BigEndian.PutUint32(call[atArch:], auditArch)
	binary.BigEndian.PutUint32(call[atArgument:], family)
	n, err := vm.Run(call)
	return uint32(n), err
}

// MakeGroup makes a control group, and returns its directory, the file to enter it, and what removes it.
func MakeGroup(parent string, limits [][2]string) (dir string, procs *os.File, remove func() bool, err error) {
	g, err := makeGroup(parent, limits)
	if err != nil {
		return "", nil, nil, err
	}
	return g.dir, g.procs, g.close, nil
}
