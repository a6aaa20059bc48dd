//go:build unix && !linux && !darwin

package console

import "errors"

func unlock(int) (string, error) {
	return "", errors.New("consoles need the pseudo-terminals of Linux or macOS")
}
