//go:build unix && !linux

package mcp

import "syscall"

// attributes puts a server in a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
