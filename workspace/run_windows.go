package workspace

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func shell(line string) *exec.Cmd {
	path := shellPath("pwsh", "powershell", "cmd")
	if strings.EqualFold(strings.TrimSuffix(filepath.Base(path), ".exe"), "cmd") {
		return exec.Command(path, "/d", "/s", "/c", line)
	}
	return exec.Command(path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", line)
}

// SyntaxError finds nothing here: these shells cannot read a line without executing it.
func SyntaxError(context.Context, string) string { return "" }

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// awaitEnd has no need to: a process is known by a handle, not by its number.
func awaitEnd(*os.Process) bool { return false }

// family is the job object of a command: all that it starts, unless that leaves within the first instant, before the command
// is put in the job. Without a job it is the shell alone.
type family struct {
	job     windows.Handle
	process *os.Process
}

func newFamily(p *os.Process, _ string, _ bool) family {
	f := family{process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return f
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = p.WithHandle(func(handle uintptr) {
			err = windows.AssignProcessToJobObject(job, windows.Handle(handle))
		})
	}
	if err != nil {
		windows.CloseHandle(job)
		return f
	}
	f.job = job
	return f
}

// terminate kills: there is no signal that every program understands.
func (f *family) terminate() { f.kill() }

func (f *family) terminateRest() { f.kill() }

// kill does not know whether there was a process besides the shell.
func (f *family) kill() bool {
	if f.job == 0 {
		_ = f.process.Kill()
		return false
	}
	_ = windows.TerminateJobObject(f.job, 1)
	return false
}

func (f *family) close() {
	if f.job != 0 {
		windows.CloseHandle(f.job)
		f.job = 0
	}
}

func exitStatus(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// interrupt does nothing: all that could write to the pipe is gone.
func interrupt(*os.File) {}

func drain(*os.File, []byte, func([]byte)) {}
