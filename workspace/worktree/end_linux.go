package worktree

import "syscall"

// ending lets git end with this process: a copy that the next process makes has no other writer.
func ending() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
