package sandbox

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused is the system calls that no command needs and that lead out of a sandbox, or to parts of the kernel where many ways
// out were found. They fail with EPERM.
var refused = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
}

// namespaceFlags of clone and unshare make new namespaces, in which a process has rights that it had lost.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

// Offsets in what a filter is given: the number of the call, the architecture, and the lower halves of the arguments. Both
// architectures are little-endian.
const (
	atCall     = 0
	atArch     = 4
	atArgument = 16 // the first; each has 8 bytes
)

// program is a filter that is being written.
type program []unix.SockFilter

func (p *program) load(at uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
}

// unless jumps over the next instructions when the comparison does not hold.
func (p *program) unless(compare uint16, value uint32, skip int) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | compare, K: value, Jf: uint8(skip)})
}

// when jumps over the next instructions when the comparison holds.
func (p *program) when(compare uint16, value uint32, skip int) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | compare, K: value, Jt: uint8(skip)})
}

func (p *program) end(verdict uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict})
}

// fail ends with an error of the call.
func (p *program) fail(errno unix.Errno) { p.end(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

// filter is the program for a level. A call of another architecture, or of x32, has other numbers and could pass: it kills.
func filter(level Level, open, scoped bool) program {
	var p program
	p.load(atArch)
	p.when(unix.BPF_JEQ, auditArch, 1)
	p.end(unix.SECCOMP_RET_KILL_PROCESS)
	p.load(atCall)
	if runtime.GOARCH == "amd64" {
		p.unless(unix.BPF_JGE, 0x40000000, 1)
		p.end(unix.SECCOMP_RET_KILL_PROCESS)
	}
	for _, list := range [][]uint32{refused, refusedHere} {
		for _, call := range list {
			p.unless(unix.BPF_JEQ, call, 1)
			p.fail(unix.EPERM)
		}
	}
	// Its flags are behind a pointer. C libraries take clone then.
	p.unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1)
	p.fail(unix.ENOSYS)
	for _, call := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		flags := uint32(namespaceFlags)
		if call == unix.SYS_CLONE {
			flags &^= 0xff // its lowest byte is a signal
		}
		p.unless(unix.BPF_JEQ, call, 4)
		p.load(atArgument)
		p.unless(unix.BPF_JSET, flags, 1)
		p.fail(unix.EPERM)
		p.end(unix.SECCOMP_RET_ALLOW)
	}
	p.attributes()
	// Keys could be pressed on a terminal that is shared.
	p.unless(unix.BPF_JEQ, unix.SYS_IOCTL, 6)
	p.load(atArgument + 8)
	p.unless(unix.BPF_JEQ, unix.TIOCSTI, 1)
	p.fail(unix.EPERM)
	p.unless(unix.BPF_JEQ, unix.TIOCLINUX, 1)
	p.fail(unix.EPERM)
	p.end(unix.SECCOMP_RET_ALLOW)
	p.sockets(level, open, scoped)
	p.end(unix.SECCOMP_RET_ALLOW)
	return p
}

// Numbers that are the same on both architectures.
const (
	sysFchmodat2     = 452
	sysSetxattrat    = 463
	sysRemovexattrat = 466
)

// attributes refuses what would stay with a file when the command has ended: the bits that give its user's rights to others, other owners, and
// extended attributes, among them lists of rights. The flags of openat2 are behind a pointer; programs take openat then.
func (p *program) attributes() {
	for _, call := range []uint32{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
		sysSetxattrat, sysRemovexattrat,
	} {
		p.unless(unix.BPF_JEQ, call, 1)
		p.fail(unix.EOPNOTSUPP)
	}
	p.unless(unix.BPF_JEQ, unix.SYS_OPENAT2, 1)
	p.fail(unix.ENOSYS)
	const setID, create = unix.S_ISUID | unix.S_ISGID, unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	modes := map[uint32]uint32{unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, sysFchmodat2: 2, unix.SYS_MKNODAT: 2}
	maps.Copy(modes, modesHere)
	for _, call := range slices.Sorted(maps.Keys(modes)) {
		p.unless(unix.BPF_JEQ, call, 4)
		p.load(atArgument + 8*modes[call])
		p.unless(unix.BPF_JSET, setID, 1)
		p.fail(unix.EPERM)
		p.end(unix.SECCOMP_RET_ALLOW)
	}
	opens := map[uint32]uint32{unix.SYS_OPENAT: 2}
	maps.Copy(opens, opensHere)
	for _, call := range slices.Sorted(maps.Keys(opens)) {
		p.unless(unix.BPF_JEQ, call, 6)
		p.load(atArgument + 8*opens[call])
		p.unless(unix.BPF_JSET, create, 3) // otherwise there is no mode
		p.load(atArgument + 8*(opens[call]+1))
		p.unless(unix.BPF_JSET, setID, 1)
		p.fail(unix.EPERM)
		p.end(unix.SECCOMP_RET_ALLOW)
	}
	owners := map[uint32]uint32{unix.SYS_FCHOWN: 1, unix.SYS_FCHOWNAT: 2}
	maps.Copy(owners, ownersHere)
	for _, call := range slices.Sorted(maps.Keys(owners)) {
		var body program
		for i, own := range []uint32{uint32(os.Geteuid()), uint32(os.Getegid())} {
			body.load(atArgument + 8*(owners[call]+uint32(i)))
			body.when(unix.BPF_JEQ, own, 2)
			body.when(unix.BPF_JEQ, ^uint32(0), 1)
			body.fail(unix.EPERM)
		}
		body.end(unix.SECCOMP_RET_ALLOW)
		p.unless(unix.BPF_JEQ, call, len(body))
		*p = append(*p, body...)
	}
}

// sockets allows the families that programs use. Inside a network namespace they reach only what is in it. Without one, sockets
// of the internet are refused unless the network is open, and those of this machine unless the kernel limits who may connect to whom (scoped):
// many paths are sockets of daemons, and abstract names are sockets of the desktop. Pairs stay.
func (p *program) sockets(level Level, open, scoped bool) {
	families := []uint32{}
	if level == Namespaces && (!open || scoped) {
		families = append(families, unix.AF_UNIX)
	}
	if level == Namespaces || open {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	var body program
	body.load(atArgument)
	for _, f := range families {
		body.unless(unix.BPF_JEQ, f, 1)
		body.end(unix.SECCOMP_RET_ALLOW)
	}
	if level == Namespaces || open { // which networks there are
		body.unless(unix.BPF_JEQ, unix.AF_NETLINK, 3)
		body.load(atArgument + 16)
		body.unless(unix.BPF_JEQ, unix.NETLINK_ROUTE, 1)
		body.end(unix.SECCOMP_RET_ALLOW)
	}
	body.fail(unix.EPERM)
	p.unless(unix.BPF_JEQ, unix.SYS_SOCKET, len(body))
	*p = append(*p, body...)
}

// seccomp installs the filter in all threads of this process, and so in the processes that it starts.
func (s *spec) seccomp() error {
	p := filter(s.Level, s.Open, landlockVersion() >= scopes)
	fprog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return errno
	}
	return nil
}
