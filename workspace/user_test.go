//go:build unix

package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/program"
)

// asUser runs a test again in a process that is not root's, with dir in its environment. In that process it reports true.
func asUser(t *testing.T, dir string) bool {
	t.Helper()
	const variable = "WORKSPACE_AS_USER"
	if os.Getenv(variable) != "" {
		return true
	}
	test := filepath.Join(filepath.Dir(dir), "test.exe")
	if err := program.Copy(test, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(test, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
	return false
}

// everyonesDir is a directory that every user can enter.
func everyonesDir(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("", "workspace-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	dir := filepath.Join(base, "project")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(base, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWithoutPermission(t *testing.T) {
	dir := os.Getenv("WORKSPACE_AS_USER")
	if dir == "" {
		dir = everyonesDir(t)
		write(t, dir, map[string]string{"closed/file": "", "locked": "old", "secret": "s", "open/locked": "old"})
		for name, mode := range map[string]fs.FileMode{"closed": 0o555, "locked": 0o444, "secret": 0, "open": 0o777, "open/locked": 0o444} {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	}
	if !asUser(t, dir) {
		return
	}
	w := open(t, dir)
	for _, name := range []string{"closed/new", "closed/sub/new", "open/locked"} {
		if err := w.WriteFile(t.Context(), name, []byte("new"), nil); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), name) {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	if data, err := w.ReadFile("open/locked", 100); err != nil || string(data) != "old" {
		t.Errorf("a read-only file became %q, %v", data, err)
	}
	if _, err := w.ReadFile("secret", 100); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("reading a secret: %v", err)
	}
}
