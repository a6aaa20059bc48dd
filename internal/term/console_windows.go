package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes makes a console take escape sequences, and reports whether it does. Old ones cannot.
func understandsEscapes(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	const virtual = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&virtual != 0 || windows.SetConsoleMode(h, mode|virtual) == nil
}
