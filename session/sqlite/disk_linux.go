package sqlite

import (
	"os"
	"syscall"
)

// syncFile leaves out times, which need a second write.
func syncFile(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
