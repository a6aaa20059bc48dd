//go:build !windows

package keys_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/keys"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "keys.json"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := keys.Open(dir, noKeyring()).List(); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("got %v", err)
	}
}
