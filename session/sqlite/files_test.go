//go:build unix

package sqlite

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
	"github.com/tenon-agent/tenon/session"
)

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// All files are their owner's alone, whatever the umask.
func TestPermissions(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o277} {
		dir := filepath.Join(t.TempDir(), "tenon")
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		path := filepath.Join(dir, "sessions.db")
		s := open(t, path)
		writerFor(t, s)
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if got := mode(t, name); got != 0o600 {
				t.Errorf("umask %o: %s has mode %o", umask, filepath.Base(name), got)
			}
		}
		for _, name := range []string{dir, path + ".owners"} {
			if got := mode(t, name); got&0o077 != 0 {
				t.Errorf("umask %o: %s has mode %o", umask, filepath.Base(name), got)
			}
		}
		syscall.Umask(old)
	}
}

func TestPermissionsAreNarrowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if got := mode(t, path); got != 0o600 {
		t.Errorf("the file has mode %o", got)
	}
}

func TestOneFileHasOneName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "sessions.db"))
	w := writerFor(t, s)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(s.path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, link).Open(t.Context(), w.Session(), session.Lease{}); err == nil {
		t.Error("opened by a link during the life of a writer")
	}
}

// A directory or file that may not be written says so.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Chmod(filepath.Dir(path), 0o555) },
		"file": func(path string) error {
			s, err := Open(path)
			if err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return err
			}
			return os.Chmod(filepath.Dir(path), 0o555)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(reachable(t), "sessions.db")
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			out := unprivileged(t, "open", path)
			if !strings.HasPrefix(out, "unwritable:") || !strings.Contains(out, path) {
				t.Errorf("it said %q", out)
			}
		})
	}
}

// Who may read a file but not write it, nor its directory, can look at all there is.
func TestReadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(reachable(t), "sessions.db")
	id := filled(t, path)
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(filepath.Dir(path), 0o555)); err != nil {
		t.Fatal(err)
	}
	out := unprivileged(t, "look", path, string(id))
	if want := "looked: <nil>\ncreated: session: open " + path + ": not writable"; !strings.HasPrefix(out, want) {
		t.Errorf("it said %q, want %q", out, want)
	}
}

// unprivileged plays a role as a user without privileges and returns its output. Root may write everything, so root's test runs the role as
// another user.
func unprivileged(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := role(t.Context(), name, args...)
	if os.Getuid() == 0 {
		cmd.Path = filepath.Join(reachable(t), "test")
		if err := program.Copy(cmd.Path, os.Args[0]); err != nil {
			t.Fatal(err)
		}
		asOtherUser(cmd)
	}
	out, err := cmd.Output()
	if os.Getuid() == 0 && errors.Is(err, fs.ErrPermission) {
		t.Skipf("no other user may run programs from the temporary directory: %v", err)
	}
	if err != nil {
		t.Fatalf("it said %q, %v", out, err)
	}
	return string(out)
}

// reachable returns a temporary directory that another user may search.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tenon-sqlite-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o755)
		_ = os.RemoveAll(dir)
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func asOtherUser(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
}
