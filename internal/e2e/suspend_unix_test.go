//go:build unix

package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// TestCtrlZ stops the program again and again while it writes, as a terminal does at Ctrl-Z. Another process learns which process has the
// session, and writes to the store without waiting. After SIGCONT the program continues to its end.
func TestCtrlZ(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	var finish atomic.Bool
	var turn atomic.Int64
	w := ways()[0]
	w.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step {
		if finish.Load() {
			return say()
		}
		n := turn.Add(1)
		return modelserver.Say(fmt.Sprint("Reading again: ", n)).Call("read", fmt.Sprintf(`{"path":"facts.txt","limit":%d}`, 10+n))
	}))
	c := &running{p: p, cmd: p.command(t.Context(), "run", "--model", w.ref(), "--max-turns", "100000", "--output", "stream-json", "How many keys?")}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdout = bufio.NewReader(io.TeeReader(out, &c.told))
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := c.cmd.Process.Pid
	group := func(s syscall.Signal) {
		if err := syscall.Kill(-pid, s); err != nil {
			t.Fatal(err)
		}
	}
	stopped := func() {
		t.Helper()
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("the program is not stopped (%v, %v): %s", status, err, c.stderr.String())
		}
	}
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })

	c.await(`"kind":"run_started"`)
	id := p.session()
	for round := range 8 {
		c.await(`"kind":"call_started"`)
		group(syscall.SIGTSTP)
		stopped()
		for range 5 { // the second signal may come before the program has seen the first
			group(syscall.SIGCONT)
			group(syscall.SIGTSTP)
			stopped()
		}
		r := p.tenon("run", "--model", w.ref(), "--session", id, "and now?")
		if r.code == 0 || !strings.Contains(r.stderr, "[session.locked]") || !strings.Contains(r.stderr, strconv.Itoa(pid)) {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
		if r := p.tenon("sessions", "note", id, fmt.Sprint("round ", round)); r.code != 0 || strings.Contains(r.stderr, "waiting") {
			t.Errorf("another process cannot write: exit code %d: %s", r.code, r.stderr)
		}
		group(syscall.SIGCONT)
	}
	finish.Store(true)
	if _, err := io.Copy(io.Discard, c.stdout); err != nil {
		t.Error(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, c.stderr.String())
	}
	if r := p.tenon("sessions", "check"); r.code != 0 {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
