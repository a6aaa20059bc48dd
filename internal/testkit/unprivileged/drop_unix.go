//go:build unix

package unprivileged

import (
	"os/exec"
	"syscall"
)

// drop makes a command run as a user and a group without rights.
func drop(cmd *exec.Cmd) {
	const id = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
}
