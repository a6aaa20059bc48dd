// Package program writes programs that a test then runs.
package program

import (
	"os"
	"syscall"
)

// Copy writes the program from to the path to, where everybody may run it.
func Copy(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return Write(to, text)
}

// Write writes a program that everybody may run. While it is open for writing, this process starts no other: a child that is just being
// started would inherit the open file, and the kernel refuses to run a program that is open for writing ("text file busy").
func Write(to string, text []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(to, text, 0o755); err != nil {
		return err
	}
	return os.Chmod(to, 0o755)
}
