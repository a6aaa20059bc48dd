package sqlite

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// refuseWrites replaces the descriptors of a file that this process has open by ones that can only read, until allow is called.
func refuseWrites(t *testing.T, path string) (allow func()) {
	t.Helper()
	reads, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	writes, ours := map[int]int{}, map[int]bool{reads: true} // the descriptors with their duplicates, and the descriptors of this test
	for _, name := range names {
		fd, _ := strconv.Atoi(filepath.Base(name))
		if to, err := os.Readlink(name); err != nil || to != path || ours[fd] {
			continue // a duplicate may have the number of a file that another test has closed
		}
		if writes[fd], err = syscall.Dup(fd); err == nil {
			ours[writes[fd]] = true
			err = syscall.Dup3(reads, fd, syscall.O_CLOEXEC)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(writes) == 0 {
		t.Fatalf("%s is not open", path)
	}
	return func() {
		for fd, was := range writes {
			if err := syscall.Dup3(was, fd, syscall.O_CLOEXEC); err != nil {
				t.Error(err)
			}
			_ = syscall.Close(was)
		}
		_ = syscall.Close(reads)
	}
}
