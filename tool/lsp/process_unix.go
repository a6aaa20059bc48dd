//go:build unix

package lsp

import (
	"os"
	"syscall"
)

// killGroup ends the processes in the session of a server. Its number stays taken until it is waited for, or while others are in the group.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
