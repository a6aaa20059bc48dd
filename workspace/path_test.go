//go:build unix

package workspace_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestResolve(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "project")
	write(t, base, map[string]string{"project/sub/file": "x", "outside/secret": "s", "project-2/file": "y"})
	link(t, "/", filepath.Join(dir, "slash"))
	link(t, "sub", filepath.Join(dir, "relative"))
	link(t, filepath.Join(dir, "sub"), filepath.Join(dir, "absolute"))
	link(t, "../outside", filepath.Join(dir, "out"))
	link(t, filepath.Join(base, "outside", "new"), filepath.Join(dir, "dangling-out"))
	link(t, "sub/new", filepath.Join(dir, "dangling-in"))
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, "project", filepath.Join(base, "alias"))
	w := open(t, filepath.Join(base, "alias"))
	if w.Dir() != dir {
		t.Fatalf("root %s, want %s", w.Dir(), dir)
	}
	tests := []struct{ name, want string }{
		{".", ""},
		{"", ""},
		{"sub/file", "sub/file"},
		{"./sub/../sub/file", "sub/file"},
		{dir, ""},
		{filepath.Join(dir, "sub/file"), "sub/file"},
		{filepath.Join(base, "alias/sub/file"), "sub/file"},
		{"relative/file", "sub/file"},
		{"absolute/file", "sub/file"},
		{"new/deep/file", "new/deep/file"},
		{"sub/file/below", "sub/file/below"},
		{"dangling-in", "sub/new"},
		{"slash" + dir + "/sub", "sub"},
	}
	for _, test := range tests {
		t.Run("inside "+test.name, func(t *testing.T) {
			got, err := w.Resolve(test.name)
			if want := filepath.Join(dir, test.want); err != nil || got != want {
				t.Errorf("%s leads to %s, %v; want %s", test.name, got, err, want)
			}
		})
	}
	for _, name := range []string{
		"..", "../outside/secret", "sub/../../outside", "/etc/passwd", base, dir + "-2/file",
		"slash", "slash/etc/passwd", "out/secret", "out", "dangling-out", "slash/new", "relative/../../outside",
	} {
		t.Run("outside "+name, func(t *testing.T) {
			_, err := w.Resolve(name)
			outside, ok := errors.AsType[*workspace.OutsideError](err)
			if !ok {
				t.Fatalf("%s: %v, want an *OutsideError", name, err)
			}
			if outside.Path != name || !strings.Contains(err.Error(), dir) {
				t.Errorf("%q names neither the path nor the workspace", err)
			}
			if _, err := w.ReadFile(name, 100); !isOutside(err) {
				t.Errorf("ReadFile: %v", err)
			}
			if _, err := w.Stat(name); !isOutside(err) {
				t.Errorf("Stat: %v", err)
			}
			if err := w.WriteFile(t.Context(), name, nil, nil); !isOutside(err) {
				t.Errorf("WriteFile: %v", err)
			}
			for _, err := range w.Walk(t.Context(), name, workspace.WalkOptions{}) {
				if !isOutside(err) {
					t.Errorf("Walk: %v", err)
				}
			}
			if _, err := w.Run(t.Context(), workspace.Command{Line: "true", Dir: name}); !isOutside(err) {
				t.Errorf("Run: %v", err)
			}
		})
	}
	if _, err := w.Resolve("loop"); err == nil || !strings.Contains(err.Error(), "more than 40 links") {
		t.Errorf("a loop of links: %v", err)
	}
	if _, err := w.Resolve("a\x00b"); err == nil {
		t.Error("a NUL in the name is accepted")
	}
}

func isOutside(err error) bool {
	_, ok := errors.AsType[*workspace.OutsideError](err)
	return ok
}

// While one goroutine puts a link out in the place of a directory and back again, no read ever shows what is outside, and no
// write ever changes it.
func TestSwapCannotEscape(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "project")
	write(t, base, map[string]string{"project/at/file": "inside", "outside/file": "outside"})
	w := open(t, dir)
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		at, parked := filepath.Join(dir, "at"), filepath.Join(dir, "parked")
		for {
			_ = os.Rename(at, parked)
			_ = os.RemoveAll(at) // a write may have made it
			_ = os.Symlink("../outside", at)
			_ = os.RemoveAll(at)
			_ = os.Rename(parked, at)
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	reads, refused := 0, 0
	for i := 0; i < 5000 || (reads == 0 || refused == 0) && i < 100_000; i++ {
		switch data, err := w.ReadFile("at/file", 100); {
		case isOutside(err):
			refused++
		case err == nil:
			reads++
			if bytes.Equal(data, []byte("outside")) {
				t.Error("a file outside was read")
			}
		}
		if i%20 == 0 {
			_ = w.WriteFile(t.Context(), "at/file", []byte("inside"), nil)
		}
	}
	close(stop)
	swapping.Wait()
	if reads == 0 || refused == 0 {
		t.Errorf("%d reads, %d refused: nothing was tried", reads, refused)
	}
	if data, err := os.ReadFile(filepath.Join(base, "outside", "file")); err != nil || string(data) != "outside" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	if entries, err := os.ReadDir(filepath.Join(base, "outside")); err != nil || len(entries) != 1 {
		t.Errorf("outside are %v, %v", entries, err)
	}
}

func TestSpecialFilesAreNotOpened(t *testing.T) {
	dir, err := os.MkdirTemp("", "t") // short: a socket's path has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	w := open(t, dir)
	for _, name := range []string{"pipe", "socket"} {
		_, err := w.ReadFile(name, 100)
		if special, ok := errors.AsType[*workspace.SpecialError](err); !ok || !strings.HasSuffix(special.Kind, name) {
			t.Errorf("reading a %s: %v", name, err)
		}
		err = w.WriteFile(t.Context(), name, nil, nil)
		if _, ok := errors.AsType[*workspace.SpecialError](err); !ok {
			t.Errorf("writing a %s: %v", name, err)
		}
	}
	devices := open(t, "/dev")
	if _, err := devices.ReadFile("zero", 100); err == nil || !strings.Contains(err.Error(), "device") {
		t.Errorf("reading a device: %v", err)
	}
	if _, err := w.ReadFile(".", 100); !errorIs[*workspace.DirectoryError](err) {
		t.Errorf("reading a directory: %v", err)
	}
	if err := w.WriteFile(t.Context(), ".", nil, nil); !errorIs[*workspace.DirectoryError](err) {
		t.Errorf("writing a directory: %v", err)
	}
}

func errorIs[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": strings.Repeat("x", 1000)})
	w := open(t, dir)
	if data, err := w.ReadFile("file", 1000); err != nil || len(data) != 1000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	_, err := w.ReadFile("file", 999)
	if large, ok := errors.AsType[*workspace.TooLargeError](err); !ok || large.Size != 1000 || large.Limit != 999 {
		t.Errorf("a file beyond the limit: %v", err)
	}
	if _, err := w.ReadFile("none", 10); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing file: %v", err)
	}
	if f, err := os.Open("/proc/self/status"); err == nil {
		defer f.Close()
		if _, err := workspace.ReadAll(f, "status", 10); !errorIs[*workspace.TooLargeError](err) {
			t.Errorf("a file without a size that is too large: %v", err)
		}
		if data, err := workspace.ReadAll(f, "status", 1<<20); err != nil || len(data) == 0 {
			t.Errorf("a file without a size: %d bytes, %v", len(data), err)
		}
	}
	if _, err := workspace.Open(filepath.Join(dir, "none"), workspace.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a missing directory: %v", err)
	}
	if _, err := workspace.Open(filepath.Join(dir, "file"), workspace.Options{}); err == nil {
		t.Error("a file is opened as a workspace")
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"run.sh": "old", "sub/target": "old"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	link(t, "sub/target", filepath.Join(dir, "link"))
	w := open(t, dir)

	t.Run("keeps the mode", func(t *testing.T) {
		if err := w.WriteFile(t.Context(), "run.sh", []byte("new"), nil); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "run.sh"))
		if err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	})
	t.Run("replaces the target of a link", func(t *testing.T) {
		if err := w.WriteFile(t.Context(), "link", []byte("new"), nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Error("the link is gone")
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "sub/target")); string(data) != "new" {
			t.Errorf("the target is %q", data)
		}
	})
	t.Run("makes directories", func(t *testing.T) {
		if err := w.WriteFile(t.Context(), "a/b/c", []byte("new"), nil); err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "a/b/c")); string(data) != "new" {
			t.Errorf("the file is %q", data)
		}
	})
	t.Run("leaves all as it was when the check fails", func(t *testing.T) {
		stale := errors.New("stale")
		if err := w.WriteFile(t.Context(), "run.sh", []byte("newer"), func() error { return stale }); !errors.Is(err, stale) {
			t.Errorf("error %v", err)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "run.sh")); string(data) != "new" {
			t.Errorf("the file is %q", data)
		}
	})
	t.Run("below a file", func(t *testing.T) {
		if err := w.WriteFile(t.Context(), "run.sh/x", nil, nil); err == nil || !strings.Contains(err.Error(), "run.sh/x") {
			t.Errorf("error %v", err)
		}
	})
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".tenon-") {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}
