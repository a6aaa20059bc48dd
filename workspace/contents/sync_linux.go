package contents

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncAll makes all files of the file system durable, if the system can do that.
func syncAll(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd())) == nil
}
