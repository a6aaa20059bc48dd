//go:build !windows

package config

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command of the shell that ends with everything it has started when ctx ends.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
