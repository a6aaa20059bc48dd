//go:build !linux

package worktree

import "syscall"

func ending() *syscall.SysProcAttr { return nil }
