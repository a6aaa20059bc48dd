//go:build unix

package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// wouldWrite reports whether this process could write the path, or make it: then it was the sandbox that did not let it.
func (c *Confined) wouldWrite(path string) bool {
	if _, err := os.Lstat(path); err != nil {
		path = filepath.Dir(path)
	}
	return unix.Access(path, unix.W_OK) == nil
}
