package console

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unlock makes the other side of a pseudo-terminal usable, and returns its name.
func unlock(fd int) (string, error) {
	var name [128]byte // the size is a part of the number of the request
	for _, request := range []struct {
		number uintptr
		to     unsafe.Pointer
	}{{syscall.TIOCPTYGRANT, nil}, {syscall.TIOCPTYUNLK, nil}, {syscall.TIOCPTYGNAME, unsafe.Pointer(&name[0])}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request.number, uintptr(request.to)); errno != 0 {
			return "", errno
		}
	}
	return unix.ByteSliceToString(name[:]), nil
}
