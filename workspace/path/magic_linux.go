package path

import (
	"path/filepath"
	"syscall"
)

const procMagic = 0x9fa0 // of statfs(2)

// magic reports whether a link leads elsewhere in each process that follows it.
func magic(at string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(filepath.Dir(at), &fs) == nil && fs.Type == procMagic
}
