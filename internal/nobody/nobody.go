// Package nobody lets tests run as somebody who may not read and write everything, also where the tests run as root.
package nobody

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

// Is reports whether this process is not root's. For root it runs the test t again in a process of a user without rights, with a home
// and a temporary directory of its own, and fails t when that does not pass; the caller leaves then:
//
//	if !nobody.Is(t) {
//		return
//	}
//
// On Windows, where nobody is root, it is true.
func Is(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	base, err := os.MkdirTemp("", "nobody-")
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
		t.Errorf("as somebody who is not root: %v\n%s", err, out)
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
