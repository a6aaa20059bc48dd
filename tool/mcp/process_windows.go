package mcp

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// terminate does nothing: there is no signal that every program understands, and the end of the input has asked already.
func terminate(*os.Process) {}

// kill ends a server with the processes that it started.
func kill(p *os.Process) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() != nil {
		_ = p.Kill()
	}
}
