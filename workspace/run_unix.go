//go:build unix

package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func shell(line string) *exec.Cmd {
	return exec.Command(shellPath("bash", "sh"), "-c", line)
}

// SyntaxError returns what the shell says against the syntax of a command line, with the place; "" if it says nothing. The shell reads the line
// and executes nothing of it.
func SyntaxError(ctx context.Context, line string) string {
	c := shell(line)
	c = exec.CommandContext(ctx, c.Path, "-n", "-c", line)
	c.Args[0], c.Env = "shell", []string{"LC_ALL=C"} // no file of BASH_ENV
	out, _ := c.CombinedOutput()
	text := strings.ReplaceAll("\n"+strings.TrimSpace(string(out)), "\nshell: ", "\n")
	return strings.ReplaceAll(text, "\n-c: ", "\n")[1:]
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
