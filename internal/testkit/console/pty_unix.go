//go:build unix

package console

import (
	"os"

	"golang.org/x/sys/unix"
)

// control calls a function with the descriptor of a file, and leaves the file non-blocking.
func control(f *os.File, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = call(int(fd)) }); err != nil {
		return err
	}
	return failed
}

func setSize(f *os.File, size Size) error {
	return control(f, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{
			Row: uint16(size.Height), Col: uint16(size.Width),
			Xpixel: uint16(size.Width * pixelsAcross), Ypixel: uint16(size.Height * pixelsDown),
		})
	})
}
