//go:build !unix

package workspace

import (
	"io/fs"
	"os"
)

const noBlock = 0

// syncDir does nothing: directories cannot be synced here.
func syncDir(*os.Root, string) error { return nil }

// keepOwner does nothing: a new file inherits its rights from the directory.
func keepOwner(*os.File, fs.FileInfo) {}
