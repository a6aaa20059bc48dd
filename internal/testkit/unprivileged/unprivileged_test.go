package unprivileged_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
)

// After Is has returned true, the process may not read closed files.
func TestIs(t *testing.T) {
	t.Run("a subtest (with signs)", func(t *testing.T) {
		if !unprivileged.Is(t) {
			return
		}
		closed := filepath.Join(t.TempDir(), "closed")
		if err := os.WriteFile(closed, nil, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(closed); runtime.GOOS != "windows" && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
}
