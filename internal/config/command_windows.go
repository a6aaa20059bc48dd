package config

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns a command of the command interpreter, which gets it as it is written: quoting by the rules of other
// programs would change it.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /d /s /c "` + command + `"`, HideWindow: true}
	return cmd
}
