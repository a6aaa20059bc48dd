package console

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// unlock makes the other side of a pseudo-terminal usable, and returns its name.
func unlock(fd int) (string, error) {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return "/dev/pts/" + strconv.Itoa(number), err
}
