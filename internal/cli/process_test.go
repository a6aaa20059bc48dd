//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// child is the program as another process.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	pipe   io.Closer // of stdout
	stdout *bufio.Reader
	stderr *bufio.Reader
	told   bytes.Buffer // the part of stderr that was read
}

// start starts the program with data in dir. Further variables are of the form NAME=value.
func start(t *testing.T, dir string, env []string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), "tenon", args...)}
	c.cmd.Dir = dir
	c.cmd.Env = append(os.Environ(), append(env, "TENON_DATA_DIR="+filepath.Join(dir, "data"), "GORACE="+raceOptions)...)
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.pipe = stdout
	c.stdout, c.stderr = bufio.NewReader(stdout), bufio.NewReader(io.TeeReader(stderr, &c.told))
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// await reads from r until text came.
func (c *child) await(r *bufio.Reader, text string) {
	c.t.Helper()
	var got strings.Builder
	for !strings.HasSuffix(got.String(), text) {
		b, err := r.ReadByte()
		if err != nil {
			c.t.Fatalf("%q does not come: %q, then %v", text, got.String(), err)
		}
		got.WriteByte(b)
	}
}

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for the end of the program and returns its exit code and what it said.
func (c *child) end() (code int, stdout, stderr string) {
	c.t.Helper()
	out, err := io.ReadAll(c.stdout)
	if err == nil {
		_, err = io.Copy(io.Discard, c.stderr)
	}
	err = errors.Join(err, c.cmd.Wait())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out), c.told.String()
	}
	if err != nil {
		c.t.Error(err)
	}
	return 0, string(out), c.told.String()
}

// lastState is the last session of dir, and what became of it.
func lastState(t *testing.T, dir string) (s index.Summary, state view.State) {
	t.Helper()
	code, out, told := start(t, dir, nil, "sessions", "list", "--json", "--limit", "1").end()
	if code != 0 {
		t.Fatalf("list: exit code %d: %s", code, told)
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	code, out, told = start(t, dir, nil, "sessions", "show", "--json", string(s.ID)).end()
	if code != 0 {
		t.Fatalf("show: exit code %d: %s", code, told)
	}
	shown := struct{ State *view.State }{&state}
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatal(err)
	}
	return s, state
}

func TestAnInterruptFinishesTheJournal(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			env := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "hangs"), "text I begin.\nhang")}
			c := start(t, dir, env, "run", "--debug", "hello")
			c.await(c.stderr, "I begin.")
			c.signal(sig)
			code, _, told := c.end()
			s, state := lastState(t, dir)
			if code != command.ExitInterrupted || !strings.Contains(told, "tenon run --session "+string(s.ID)) {
				t.Errorf("exit code %d, says %q", code, told)
			}
			if state.Running || state.Ended == nil || state.Ended.Reason != session.ReasonCancelled || s.Owner != "" {
				t.Errorf("the journal has %+v of %+v", state, s)
			}

			env[0] = "TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "ends"), "text I begin.\n---\ntext I end.")
			code, out, told := start(t, dir, env, "run", "--continue", "go", "on").end()
			if code != command.ExitDone || out != "I end.\n" {
				t.Errorf("exit code %d, says %q and %q", code, out, told)
			}
		})
	}
}

func TestASecondInterruptLeavesAtOnce(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir, []string{"TENON_TEST_STUCK=1"}, "run", "--output", "stream-json", "hello")
	c.await(c.stderr, stuck)
	c.signal(os.Interrupt)
	c.await(c.stderr, "interrupt again to exit at once\n")
	again := time.NewTicker(command.OneInterrupt)
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
	// The journal has no end of the run; opening the session again gives it one.
	if _, state := lastState(t, dir); !state.Running {
		t.Errorf("state %+v", state)
	}
	env := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), "text Here I am.")}
	if code, out, told := start(t, dir, env, "run", "--continue").end(); code != command.ExitDone || out != "Here I am.\n" {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
}

func TestAnInterruptEndsTheWaitForInput(t *testing.T) {
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	cmd := exec.CommandContext(t.Context(), "tenon", "run", "hello")
	cmd.Env = append(os.Environ(), "TENON_DATA_DIR="+dir, "GORACE="+raceOptions)
	cmd.Stdin = r
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := bufio.NewReader(stderr)
	if line, err := told.ReadString('\n'); err != nil || !strings.Contains(line, "waiting for the end of standard input") {
		t.Fatalf("says %q, %v", line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, told); err != nil {
		t.Fatal(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || exit.ExitCode() != command.ExitInterrupted {
		t.Errorf("ended with %v", exit)
	}
}

func TestAReaderThatLeavesEndsTheRunQuietly(t *testing.T) {
	for _, output := range []string{"text", "stream-json"} {
		t.Run(output, func(t *testing.T) {
			dir := t.TempDir()
			more := 100 // the text of an answer comes when it is complete
			if output == "stream-json" {
				more = 100_000 // the run must not end before the reader leaves
			}
			script := writeFile(t, filepath.Join(dir, "script"), fmt.Sprintf("text I begin.\nrepeat %d text more and more\n", more))
			c := start(t, dir, []string{"TENON_TEST_SCRIPT=" + script}, "run", "--output", output, "hello")
			if output == "stream-json" {
				c.await(c.stdout, "I begin.")
			}
			if err := c.pipe.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, c.stderr); err != nil {
				t.Fatal(err)
			}
			err := c.cmd.Wait()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != command.ExitError {
				t.Errorf("ended with %v", err)
			}
			if told := c.told.String(); strings.Contains(told, "tenon:") || strings.Contains(told, "pipe") {
				t.Errorf("says %q", told)
			}
			if _, state := lastState(t, dir); state.Running || state.Ended == nil {
				t.Errorf("the journal is not finished: %+v", state)
			}
		})
	}
}

func TestASessionInUseIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	hangs := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "hangs"), "text I begin.\nhang")}
	script := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), "text Here I am.\n---\ntext And again.")}
	if code, _, told := start(t, dir, script, "run", "older").end(); code != command.ExitDone {
		t.Fatalf("exit code %d: %s", code, told)
	}
	busy := start(t, dir, hangs, "run", "--debug", "newer")
	busy.await(busy.stderr, "I begin.")
	s, _ := lastState(t, dir)
	if !strings.HasPrefix(s.Owner, "tenon run, pid ") {
		t.Errorf("the owner is %q", s.Owner)
	}

	code, _, told := start(t, dir, script, "run", "--session", string(s.ID), "me too").end()
	if code != command.ExitError || !strings.Contains(told, "is in use by tenon run, pid ") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	code, _, told = start(t, dir, nil, "sessions", "delete", string(s.ID)).end()
	if code != command.ExitError || !strings.Contains(told, "is in use by tenon run, pid ") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	code, _, told = start(t, dir, nil, "sessions", "rewind", string(s.ID), "--turns", "1").end()
	if code != command.ExitError || !strings.Contains(told, "is in use by tenon run, pid ") || !strings.Contains(told, "--take-over") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	code, out, told := start(t, dir, nil, "sessions", "prune", "--larger", "1B", "--yes", "--dry-run").end()
	if code != command.ExitDone || !strings.Contains(out, string(s.ID)) {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	code, out, told = start(t, dir, script, "run", "--continue", "and you").end()
	if code != command.ExitDone || out != "And again.\n" || !strings.Contains(told, "skipped session "+string(s.ID)) {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	code, out, told = start(t, dir, nil, "sessions", "prune", "--larger", "1B", "--yes").end()
	if code != command.ExitDone || !regexp.MustCompile(string(s.ID)+" .*stays: tenon run, pid ").MatchString(out) || !strings.Contains(told, "1 session,") {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	code, out, _ = start(t, dir, nil, "sessions", "prune", "--larger", "1B", "--yes", "--json").end()
	if code != command.ExitDone || !strings.Contains(out, `"done":false,"locked":"tenon run, pid `) {
		t.Errorf("exit code %d, says %q", code, out)
	}
	busy.signal(os.Interrupt)
	if code, _, _ := busy.end(); code != command.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// A person can take a session from a process that has it open, and that process writes no more.
func TestASessionIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	hangs := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "hangs"), "text I begin.\nhang")}
	script := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), "text Here I am.")}
	busy := start(t, dir, hangs, "run", "--debug", "first")
	busy.await(busy.stderr, "I begin.")
	s, _ := lastState(t, dir)
	code, out, told := start(t, dir, script, "run", "--session", string(s.ID), "--take-over", "second").end()
	if code != command.ExitDone || out != "Here I am.\n" {
		t.Errorf("exit code %d, prints %q, says %q", code, out, told)
	}
	code, _, told = start(t, dir, nil, "undo", string(s.ID), "--take-over").end()
	if code != command.ExitDone {
		t.Errorf("exit code %d, says %q", code, told)
	}
	busy.signal(os.Interrupt)
	if code, _, told := busy.end(); code == command.ExitDone {
		t.Errorf("the process that lost the session ends with %d: %s", code, told)
	}
}

func TestADataDirectoryThatCannotBeWritten(t *testing.T) {
	program, err := exec.LookPath("tenon")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var credential *syscall.Credential
	if os.Getuid() == 0 { // for root everything can be written
		const nobody = 65534
		credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		for _, d := range []string{filepath.Dir(filepath.Dir(program)), filepath.Dir(dir), dir} {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	data := filepath.Join(dir, "data")
	if code, _, told := start(t, dir, nil, "run", "hello").end(); code != command.ExitDone {
		t.Fatalf("exit code %d: %s", code, told)
	}
	if err := filepath.WalkDir(data, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(name, 0o444)
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(data, 0o700) }) // so that it can be removed

	for _, c := range []struct{ name, dir string }{
		{"with a database", data},
		{"without one", filepath.Join(data, "below")},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, "run", "hello")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TENON_DATA_DIR="+c.dir, "TENON_CONFIG_DIR="+dir, "GORACE="+raceOptions)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
			told, err := cmd.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != command.ExitError {
				t.Fatalf("ended with %v, says %q", err, told)
			}
			for _, want := range []string{"tenon: ", data, "TENON_DATA_DIR"} {
				if !strings.Contains(string(told), want) {
					t.Errorf("%q does not name %s", told, want)
				}
			}
		})
	}
}
