//go:build !unix

package main

import (
	"context"
	"errors"
	"os/exec"
)

var errNoTerminal = errors.New("screenshots need the pseudo-terminals of Linux or macOS")

func inTerminal(*exec.Cmd, int, int) (string, error) { return "", errNoTerminal }

func terminals(context.Context, string, string, *photographer, bool) error { return errNoTerminal }
