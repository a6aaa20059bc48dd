//go:build !windows

package term

import (
	"os"
)

// understandsEscapes reports whether a terminal takes escape sequences.
func understandsEscapes(*os.File) bool { return true }
