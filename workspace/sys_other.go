//go:build !unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
)

const noBlock = 0

// syncDir does nothing: directories cannot be synced here.
func syncDir(*os.Root, string) error { return nil }

// renameBetween cannot move files between two open directories.
func renameBetween(*os.Root, string, *os.Root, string) error { return errors.ErrUnsupported }

// keepOwner does nothing: a new file inherits its rights from the directory.
func keepOwner(*os.File, fs.FileInfo) {}
