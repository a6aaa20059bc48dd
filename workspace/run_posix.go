//go:build unix && !linux

package workspace

import (
	"os"
	"syscall"
)

// attributes puts a command in a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitEnd cannot wait without taking the number of the process away.
func awaitEnd(*os.Process) bool { return false }

// family is the process group of a command, which has the number of its leader, the shell.
type family int

func newFamily(p *os.Process, _ string, _ bool) family { return family(p.Pid) }

func (f family) terminate() { _ = syscall.Kill(-int(f), syscall.SIGTERM) }

// terminateRest asks all again: among them are those that have started since.
func (f family) terminateRest() { f.terminate() }

// kill reports whether there was anything to kill.
func (f family) kill() bool { return syscall.Kill(-int(f), syscall.SIGKILL) == nil }

func (f family) close() {}
