package undo_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/undo"
)

// Where there is no room for what is to come back, nothing changes, and it comes back when there is room.
func TestUndoOnAFullDisk(t *testing.T) {
	b := newBench(t)
	disk := filepath.Join(b.dir, "disk")
	b.must(os.Mkdir(disk, 0o755))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=512k,mode=755"); err != nil {
		t.Skip("nothing can be mounted here: ", err)
	}
	t.Cleanup(func() { b.must(syscall.Unmount(disk, syscall.MNT_DETACH)) })
	b.byHand("cd disk; mkdir d; head -c 300000 /dev/urandom >d/large; echo 1 >small; echo 1 >../elsewhere")
	before := b.tree()
	b.begin("go")
	b.shell("rm -r disk/d; echo 2 >disk/small; echo 2 >elsewhere")
	b.end()
	b.byHand("head -c 300000 /dev/zero >disk/filler")
	after := b.tree()
	if _, err := b.undo("", undo.Both, false); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v", err)
	}
	trees.Same(t, b.tree(), after)
	if got := b.said(); got != "go" {
		t.Errorf("said %q", got)
	}
	b.must(os.Remove(filepath.Join(disk, "filler")))
	if _, err := b.undo("", undo.Both, false); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, b.tree(), before)
}
