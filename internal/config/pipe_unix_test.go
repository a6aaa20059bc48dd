//go:build !windows

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	h := newHome(t)
	if err := syscall.Mkfifo(filepath.Join(h.Dir, FileName), 0o600); err != nil {
		t.Skip(err)
	}
	if got := h.mistakes(); !strings.Contains(got[0], "not a regular file") {
		t.Errorf("got %q", got)
	}
}
