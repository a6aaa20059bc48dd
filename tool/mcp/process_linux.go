package mcp

import "syscall"

// attributes puts a server in a process group of its own, and lets it die with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
