//go:build unix

package workspace

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func shell(line string) *exec.Cmd {
	return exec.Command(shellPath("bash", "sh"), "-c", line)
}

func exitStatus(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, status.Signal().String()
	}
	return state.ExitCode(), ""
}

// interrupt makes a blocked Read of a pipe return.
func interrupt(f *os.File) { _ = f.SetReadDeadline(time.Unix(1, 0)) }

// maxDrain is how much is read from a pipe after the command ended: more than any pipe holds, so that a process that goes on
// writing in the background cannot keep the reader.
const maxDrain = 4 << 20

// drain reads what is in the pipe without waiting for more.
func drain(f *os.File, buf []byte, take func([]byte)) {
	if f.SetReadDeadline(time.Time{}) != nil {
		return
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) bool {
		for total := 0; total < maxDrain; {
			n, err := syscall.Read(int(fd), buf)
			switch {
			case errors.Is(err, syscall.EINTR):
				continue
			case err != nil || n <= 0:
				return true
			}
			take(buf[:n])
			total += n
		}
		return true
	})
}
