// Package unprivileged runs tests as a user without privileges, also if the tests run as root.
package unprivileged

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/program"
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	test, home := filepath.Join(base, "test"), filepath.Join(base, "home")
	err = errors.Join(os.Chmod(base, 0o755), program.Copy(test, self), os.Mkdir(home, 0o777), os.Chmod(home, 0o777))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), test, "-test.v", "-test.run="+pattern(t.Name()))
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
