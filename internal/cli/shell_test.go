//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

func TestAnInterruptEndsARunningCommand(t *testing.T) {
	dir := t.TempDir()
	env := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"),
		`call shell {"command":"echo begun; cat fifo"}`+"\n---\ntext Over.")}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, env, "run", "--yes", "hello")
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns when the command reads it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c.signal(os.Interrupt)
	code, _, told := c.end()
	if code != command.ExitInterrupted || !strings.Contains(told, "✗ shell echo begun; cat fifo · cancelled") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	if _, err := w.WriteString("x"); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the command lives on: writing to it is %v", err)
	}
	if _, state := lastState(t, dir); len(state.Tools) != 1 || !state.Tools[0].Done {
		t.Errorf("the call has no result: %+v", state.Tools)
	}
}
