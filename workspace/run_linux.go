package workspace

import "syscall"

// attributes puts a command in a session of its own, and lets the shell die with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
