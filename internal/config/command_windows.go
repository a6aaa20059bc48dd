package config

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command of the command interpreter. It passes the text unchanged, because the quoting rules of other
// programs would alter it.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /d /s /c "` + command + `"`, HideWindow: true}
	return cmd
}
