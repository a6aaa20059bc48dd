package workspace

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts a command in a session of its own, and lets the shell die with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits for the end of a child that stays known by its number, and with it its group, until it is waited for in earnest.
func awaitEnd(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
