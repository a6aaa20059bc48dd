//go:build unix && !linux

package workspace

import "syscall"

// attributes puts a command in a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
