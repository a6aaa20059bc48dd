package workspace

import (
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

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// group is the job object of a command: all that it starts, unless that leaves within the first instant, before the command
// is put in the job. Without a job it is the shell alone.
type group struct {
	job     windows.Handle
	process *os.Process
}

func newGroup(p *os.Process) group {
	g := group{process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
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
		return g
	}
	g.job = job
	return g
}

// terminate kills: there is no signal that every program understands.
func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	if g.job == 0 {
		_ = g.process.Kill()
		return
	}
	_ = windows.TerminateJobObject(g.job, 1)
}

// leaderGone ends the others: a pipe that they hold could not be read without waiting for them.
func (g *group) leaderGone() { g.kill() }

// alive is false after the command ended; the job is of no use then.
func (g *group) alive() bool {
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
	return false
}

func exitStatus(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// interrupt does nothing: all that could write to the pipe is gone.
func interrupt(*os.File) {}

func drain(*os.File, []byte, func([]byte)) bool { return true }
