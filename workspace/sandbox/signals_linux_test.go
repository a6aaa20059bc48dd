package sandbox_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// started is a script that runs confined in a group of its own, and has said that it is ready.
func started(t *testing.T, script string, files ...*os.File) (*exec.Cmd, *bufio.Reader, func() error) {
	t.Helper()
	g := newGround(t)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.ExtraFiles, cmd.SysProcAttr = g.work, files, &syscall.SysProcAttr{Setpgid: true}
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, r, c.Close
}

// A signal to the group is for the command, which may do with it what it likes.
func TestSignalsToTheGroup(t *testing.T) {
	for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGUSR1} {
		cmd, r, closed := started(t, `trap 'echo heard; exit 5' TERM INT HUP USR1; echo ready; while :; do sleep 0.05; done`)
		if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(r)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); string(rest) != "heard\n" || code != 5 || err != nil {
			t.Errorf("%v: exit %d, %q, %v", sig, code, rest, err)
		}
		if err := closed(); err != nil {
			t.Error(err)
		}
	}
}

// Killing what was started ends all of it, and is no failure of the walls.
func TestKilled(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd, _, closed := started(t, `setsid sleep 1000 >/dev/null 2>&1 & echo ready; sleep 1000`, write)
	write.Close()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := read.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		t.Errorf("something lives on: %d, %v", n, err)
	}
	if err := closed(); err != nil {
		t.Error(err)
	}
}
