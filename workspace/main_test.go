package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	plainUmask()
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, dir string) *workspace.Workspace {
	t.Helper()
	return openWith(t, dir, workspace.Options{})
}

func openWith(t testing.TB, dir string, o workspace.Options) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// realDir is a new directory by its path without links.
func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// write makes files, and directories for names that end in a slash.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if name[len(name)-1] == '/' {
			if err := os.MkdirAll(full, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
