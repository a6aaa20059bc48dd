package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// A process that executes one program after the other carries its mark at any moment.
func TestTheMarkSurvivesExec(t *testing.T) {
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte(`exec sh "$0"`), 0o666); err != nil {
		t.Fatal(err)
	}
	const mark = "TENON_TEST_MARK=of-this-test"
	cmd := exec.Command("sh", script)
	cmd.Env = append(os.Environ(), mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	f := newFamily(cmd.Process, mark, false)
	buf := make([]byte, 64<<10)
	for range 3000 {
		if !f.carries("/proc/"+strconv.Itoa(cmd.Process.Pid), buf) {
			t.Fatal("it was not known")
		}
	}
}
