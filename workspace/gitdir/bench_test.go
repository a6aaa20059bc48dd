package gitdir_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/workspace/gitdir"
)

// BenchmarkGuard is what a command costs more in a project with three repositories in it.
func BenchmarkGuard(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var fixed []string
	for _, name := range []string{"config", "config.worktree", "commondir", "hooks"} {
		fixed = append(fixed, filepath.Join(dir, ".git", name))
	}
	g := gitdir.New([]string{dir}, fixed)
	for _, name := range []string{"", "a", "b", "c"} {
		if out, err := exec.CommandContext(b.Context(), "git", "init", "-q", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		note(b, g, filepath.Join(dir, name))
	}
	for b.Loop() {
		g.Begin()
		if _, err := g.End(); err != nil {
			b.Fatal(err)
		}
	}
}
