//go:build unix

package workspace_test

import (
	"syscall"
	"testing"
)

func mkfifo(t testing.TB, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

// plainUmask lets modes be the same wherever the tests run.
func plainUmask() { syscall.Umask(0o022) }
