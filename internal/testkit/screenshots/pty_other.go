//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

func inTerminal(*exec.Cmd, int, int) (string, error) {
	return "", errors.New("screenshots need the pseudo-terminals of Linux")
}
