//go:build unix

package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/program"
)

// TestGitRunsNothingOfABareRepositoryInTheProject has files in the project that git takes for a bare repository, whose settings
// name a program.
func TestGitRunsNothingOfABareRepositoryInTheProject(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_COUNT", "1") // settings that exist already stay
	t.Setenv("GIT_CONFIG_KEY_0", "tenon.kept")
	t.Setenv("GIT_CONFIG_VALUE_0", "yes")
	ran := filepath.Join(dir, "ran")
	monitor := filepath.Join(dir, "monitor")
	if err := program.Write(monitor, []byte("#!/bin/sh\ntouch '"+ran+"'\n")); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", "work")
	git("-C", "work", "commit", "-q", "--allow-empty", "-m", "first")
	git("init", "-q", "--bare", "work/fixture")
	for _, set := range [][2]string{{"core.bare", "false"}, {"core.worktree", ".."}, {"core.fsmonitor", monitor}} {
		git("--git-dir=work/fixture", "config", set[0], set[1])
	}
	if exec.Command("git", "-c", "safe.bareRepository=explicit", "-C", filepath.Join(dir, "work", "fixture"), "rev-parse").Run() == nil {
		t.Skip("this git has no safe.bareRepository")
	}
	w := open(t, filepath.Join(dir, "work"))
	done := run(t, w, "cd fixture && git status")
	if _, err := os.Stat(ran); err == nil {
		t.Errorf("git ran the monitor: %+v", done)
	}
	if done.ExitCode == 0 || !strings.Contains(done.Head, "safe.bareRepository") {
		t.Errorf("git status took the fixture for a repository: %+v", done)
	}
	for line, want := range map[string]string{
		"git config tenon.kept": "yes\n",
		"git init -q --bare ../other && git push -q ../other HEAD:main && git --git-dir=../other log --format=%s main":                    "first\n",
		"git clone -q --bare . ../clone && git --git-dir=../clone worktree add ../tree >/dev/null 2>&1 && git -C ../tree log --format=%s": "first\n",
		"git init -q --bare ../third && GIT_DIR=../third git rev-parse --is-bare-repository":                                              "true\n",
	} {
		if done := run(t, w, line); done.ExitCode != 0 || done.Head != want {
			t.Errorf("%s: %+v", line, done)
		}
	}
}
