//go:build unix

package workspace

import "testing"

// A kill that comes before the command has started ends it as soon as it has.
func TestKillBeforeTheStart(t *testing.T) {
	cmd := shell("sleep 1000")
	cmd.SysProcAttr = attributes()
	r := newRunning(cmd, Command{}, newCollector(&outputs{}, 1<<10, 1<<10, 1<<10), nil)
	if r.kill() {
		t.Error("something was killed that had not started")
	}
	if err := r.start("TENON_TEST_MARK=killed-before", false); err != nil {
		t.Fatal(err)
	}
	if err := r.wait(t.Context()); err != nil {
		t.Error(err)
	}
	if _, signal := exitStatus(cmd.ProcessState); signal != "killed" {
		t.Errorf("it ended with %q: %v", signal, cmd.ProcessState)
	}
}
