package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// attempt tries one way out that a shell has no words for. It says what the system answered, and "got out" when nothing held.
func attempt(name, target string) {
	try, ok := attempts()[name]
	if !ok {
		fmt.Println("no such attempt:", name)
		unix.Exit(2)
	}
	if err := try(target); err != nil {
		fmt.Printf("%s: %v\n", name, err)
		unix.Exit(1)
	}
	fmt.Println("got out:", name)
	unix.Exit(0)
}

// serve answers each connection to a port, which it prints, with a text.
func serve(text string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		if _, err := c.Write([]byte(text)); err != nil {
			return err
		}
		c.Close()
	}
}

func attempts() map[string]func(string) error {
	call := func(number uintptr, args ...uintptr) func(string) error {
		args = append(args, 0, 0, 0, 0, 0, 0)
		return func(string) error {
			_, _, errno := unix.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
			if errno != 0 {
				return errno
			}
			return nil
		}
	}
	dial := func(network string) func(string) error {
		return func(target string) error {
			c, err := net.Dial(network, target)
			if err != nil {
				return err
			}
			_, err = c.Write([]byte("x"))
			return err
		}
	}
	buf := make([]byte, 4096)
	at := uintptr(unsafe.Pointer(&buf[0]))
	return map[string]func(string) error{
		"serve":    serve,
		"dial tcp": dial("tcp"), "dial udp": dial("udp"), "dial unix": dial("unix"),
		"lookup": func(target string) error {
			_, err := (&net.Resolver{PreferGo: true}).LookupHost(context.Background(), target)
			return err
		},
		"raw socket":             call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		"packet socket":          call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0),
		"vsock socket":           call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"netfilter socket":       call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
		"ptrace attach":          func(target string) error { return unix.PtraceAttach(number(target)) },
		"ptrace of the parent":   func(string) error { return unix.PtraceAttach(os.Getppid()) },
		"kill":                   func(target string) error { return unix.Kill(number(target), unix.SIGKILL) },
		"io_uring_setup":         call(unix.SYS_IO_URING_SETUP, 1, at),
		"bpf":                    call(unix.SYS_BPF, 0, at, 64),
		"keyctl":                 call(unix.SYS_KEYCTL, 0, 1),
		"userfaultfd":            call(unix.SYS_USERFAULTFD, 1),
		"perf_event_open":        call(unix.SYS_PERF_EVENT_OPEN, at, 0, ^uintptr(0), ^uintptr(0), 0),
		"mount of tmpfs":         func(target string) error { return unix.Mount("x", target, "tmpfs", 0, "") },
		"open_tree mount":        call(unix.SYS_OPEN_TREE, ^uintptr(99), at, unix.OPEN_TREE_CLONE),
		"fsopen mount":           func(string) error { _, err := unix.Fsopen("tmpfs", 0); return err },
		"umount":                 func(target string) error { return unix.Unmount(target, unix.MNT_DETACH) },
		"chroot":                 func(target string) error { return unix.Chroot(target) },
		"pivot_root":             func(target string) error { return unix.PivotRoot(target, target) },
		"unshare of the user":    func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"clone with a user":      call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)),
		"clone3":                 call(unix.SYS_CLONE3, at, 88),
		"setns":                  func(string) error { return setns() },
		"open_by_handle_at":      func(target string) error { return byHandle(target) },
		"process_vm_readv":       func(target string) error { return readMemory(number(target), buf) },
		"ioctl with a key":       func(string) error { return unix.IoctlSetPointerInt(0, unix.TIOCSTI, 'x') },
		"mknod":                  func(target string) error { return unix.Mknod(target, unix.S_IFBLK|0o600, 8<<8) },
		"sethostname":            func(string) error { return unix.Sethostname([]byte("x")) },
		"setuid of another user": func(string) error { return unix.Setuid(1) },
		"be killed": func(string) error {
			cmd := exec.Command("sleep", "1000")
			cmd.ExtraFiles = []*os.File{os.NewFile(3, "pipe")}
			p := &sandbox.Policy{}
			if os.Getenv("WAY") == "bubblewrap" {
				p.Pretend(sandbox.LookBorrowed())
			}
			if _, err := p.Wrap(cmd); err != nil {
				return err
			}
			return errors.Join(cmd.Start(), unix.Kill(os.Getpid(), unix.SIGKILL))
		},
		"x32": func(string) error {
			if runtime.GOARCH != "amd64" {
				return unix.EPERM
			}
			_, _, errno := unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0)
			return errno
		},
	}
}

func number(text string) int { n, _ := strconv.Atoi(text); return n }

func setns() error {
	fd, err := unix.Open("/proc/self/ns/net", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Setns(fd, 0)
}

func byHandle(target string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, target, 0)
	if err != nil {
		return err
	}
	root, err := unix.Open("/", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	_, err = unix.OpenByHandleAt(root, handle, unix.O_RDONLY)
	return err
}

func readMemory(pid int, buf []byte) error {
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: len(buf)}}, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil // it looked
	}
	return err
}
