//go:build unix

package workspace_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asUser runs a test again in a process that is not root's, with dir in its environment. In that process it reports true.
func asUser(t *testing.T, dir string) bool {
	t.Helper()
	const variable = "WORKSPACE_AS_USER"
	if os.Getenv(variable) != "" {
		return true
	}
	program := filepath.Join(filepath.Dir(dir), "test.exe")
	copyFile(t, os.Args[0], program)
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
	return false
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
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
