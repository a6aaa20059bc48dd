// Package unprivileged runs tests as a user without privileges, also if the tests run as root.
package unprivileged

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Is reports whether this process lacks root privileges. As root it runs the test t again in a process of an unprivileged user, with
// its own home and temporary directory, and fails t if that run fails; the caller then returns:
//
//	if !unprivileged.Is(t) {
//		return
//	}
//
// On Windows it is always true.
func Is(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	base, err := os.MkdirTemp("", "unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program, home := filepath.Join(base, "test"), filepath.Join(base, "home")
	err = errors.Join(os.Chmod(base, 0o755), copyProgram(program), os.Mkdir(home, 0o777), os.Chmod(home, 0o777))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-test.v", "-test.run="+pattern(t.Name()))
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "TMPDIR="+home)
	drop(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("as an unprivileged user: %v\n%s", err, out)
	}
	return false
}

// pattern fits one test, and the subtests of it.
func pattern(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(parts, "/")
}

// copyProgram copies this program to where everybody can run it.
func copyProgram(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(self)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chmod(to, 0o755))
}
