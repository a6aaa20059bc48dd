//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// A process that was killed leaves its directory of outputs. The next one that makes such a directory removes it, and nothing else.
func TestOutputsOfTheDeadAreRemoved(t *testing.T) {
	temp, elsewhere := realDir(t), realDir(t)
	t.Setenv("TMPDIR", temp)
	long := workspace.Command{Line: "seq 1 1000", Capture: 100}
	alive := openWith(t, t.TempDir(), workspace.Options{})
	named := openWith(t, t.TempDir(), workspace.Options{Outputs: filepath.Join(temp, "tenon-output-named")})
	var kept []string
	for _, w := range []*workspace.Workspace{alive, named} {
		done, err := w.Run(t.Context(), long)
		if err != nil || done.Trouble != nil || !strings.HasPrefix(done.File, temp) {
			t.Fatalf("%q, %v, %v", done.File, err, done.Trouble)
		}
		kept = append(kept, done.File)
	}
	write(t, temp, map[string]string{
		"tenon-output-dead/1.txt": "left", "tenon-output-dead/more/2.txt": "left", "tenon-output-file": "of somebody", "other/1.txt": "of somebody",
	})
	write(t, elsewhere, map[string]string{"precious": "mine"})
	if err := os.Symlink(elsewhere, filepath.Join(temp, "tenon-output-link")); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, filepath.Join(temp, "tenon-output-file"), filepath.Join(temp, "other", "1.txt"), filepath.Join(elsewhere, "precious"))
	w := openWith(t, t.TempDir(), workspace.Options{Outputs: filepath.Join(temp, "tenon-output-next")})
	if done, err := w.Run(t.Context(), long); err != nil || done.Trouble != nil {
		t.Fatal(err, done.Trouble)
	}
	if _, err := os.Lstat(filepath.Join(temp, "tenon-output-dead")); err == nil {
		t.Error("what the dead one left is there")
	}
	for _, name := range kept {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
