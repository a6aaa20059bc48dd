package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// inTerminal runs a command in a pseudo-terminal of this size, and returns the bytes that the terminal got.
func inTerminal(cmd *exec.Cmd, columns, rows int) (string, error) {
	outside, inside, err := openTerminal(columns, rows)
	if err != nil {
		return "", fmt.Errorf("cannot open a pseudo-terminal: %w", err)
	}
	defer outside.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inside, inside, inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = inside.Close() // the program has it; without this the end would never come
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, outside)
	if errors.Is(err, syscall.EIO) { // the end: nothing has the terminal open anymore
		err = nil
	}
	return text.String(), errors.Join(err, cmd.Wait())
}

func openTerminal(columns, rows int) (outside, inside *os.File, err error) {
	outside, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(outside.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
	}
	if err == nil {
		inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, outside.Close())
	}
	return outside, inside, nil
}
