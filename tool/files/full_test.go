//go:build linux

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

// On a full disk a change fails, and what was there stays.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("nothing can be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	p := &project{TB: t, dir: dir}
	p.use(files.NewSet(ws))
	p.put("a", "a\n")
	p.put("b", "b\n")
	p.call("read", `{"path":"a"}`)
	p.call("read", `{"path":"b"}`)
	large := strings.Repeat("+a line of text\n", 40_000)
	p.fails("write", `{"path":"a","content":"`+strings.Repeat("x", 400_000)+`"}`, "no space left")
	p.fails("patch", patchArguments(t, envelope("*** Update File: a\n-a\n+A\n*** Update File: b\n-b\n+B\n*** Add File: c\n"+large)), "no space left")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || p.get("a") != "a\n" || p.get("b") != "b\n" {
		t.Errorf("left are %v, %v; a is %q, b is %q", entries, err, p.get("a"), p.get("b"))
	}
	p.ok("edit", `{"path":"a","old_text":"a","new_text":"A"}`, "edited a: 1 line added, 1 removed")
	if _, err := os.Lstat(filepath.Join(dir, "c")); err == nil {
		t.Error("c was made")
	}
}
