//go:build unix

package mcp

import (
	"os"
	"syscall"
)

// terminate asks the group of a server to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends the group of a server.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
