package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// The tools open no file of /proc: not by its name, not through a link, not in a walk, and whatever the policy about paths outside.
func TestProcIsNoFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"own": "x"})
	for name, target := range map[string]string{"environ": "/proc/self/environ", "here": "/proc/self/cwd", "all": "/proc", "root": "/proc/self/root"} {
		link(t, target, filepath.Join(dir, name))
	}
	t.Chdir(dir)
	w := openWith(t, dir, workspace.Options{Outside: workspace.AllOutside})
	defer w.Permit([]string{"/proc", "/"}, []string{"/proc", "/"})()
	for _, name := range []string{
		"/proc/self/environ", fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/1/environ", "/proc/self/cwd/own", "/proc/self/cwd/../x", "/proc/cpuinfo",
		"/proc/thread-self/environ", "/dev/fd/0", "environ", "here/own", "all/1/environ", "all/self/environ", "root/etc/hostname",
	} {
		if data, err := w.ReadFile(name, 1<<20); err == nil {
			t.Errorf("%s was read: %d bytes", name, len(data))
		}
		if _, err := w.Stat(name); err == nil {
			t.Errorf("%s was looked at", name)
		}
		if err := w.WriteFile(t.Context(), name, []byte("evil"), nil); err == nil {
			t.Errorf("%s was written", name)
		}
		if name, err := w.Resolve(name); err == nil {
			t.Errorf("%s was resolved", name)
		}
		for entry, err := range w.Walk(t.Context(), name, workspace.WalkOptions{}) {
			if err == nil {
				t.Errorf("a walk of %s comes to %s", name, entry.Path)
			}
		}
	}
	for _, root := range []string{"/", "/proc", "/proc/self"} {
		w, err := workspace.Open(root, workspace.Options{})
		if err != nil {
			continue
		}
		for entry, err := range w.Walk(t.Context(), ".", workspace.WalkOptions{Depth: 1, Ignored: true}) {
			if err == nil && (root != "/" || strings.HasPrefix(entry.Path, "proc")) {
				t.Errorf("a walk of %s comes to %s", root, entry.Path)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile("own"); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}
