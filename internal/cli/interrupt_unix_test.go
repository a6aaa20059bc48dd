//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

// The second interrupt leaves at once, and leaves no command behind that is deaf to the first.
func TestASecondInterruptKillsTheCommand(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir, nil, "run", "--yes", "--output", "stream-json", "--model", "offline",
		"run `trap '' TERM; sleep 1000 & echo $! > pid; echo ready; wait`")
	c.await(c.stdout, `"kind":"progress"`)
	c.signal(os.Interrupt)
	c.await(c.stderr, "interrupt again to exit at once\n")
	again := time.NewTicker(command.OneInterrupt) // an earlier interrupt counts as the first one
	defer again.Stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if code, _, told := c.end(); code != command.ExitInterrupted {
			t.Errorf("exit code %d, says %q", code, told)
		}
	}()
	for alive := true; alive; {
		select {
		case <-again.C:
			_ = c.cmd.Process.Signal(os.Interrupt) // it may have ended by now
		case <-ended:
			alive = false
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); running(pid); runtime.Gosched() {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// running reports whether a process exists and is not a zombie: its parent may not have waited for it yet.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}
