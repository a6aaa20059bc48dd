//go:build !linux && !darwin

package workspace

import (
	"io/fs"
	"os"
)

// changedAt is not known here: size and time of modification must do.
func changedAt(fs.FileInfo) (nanoseconds int64, number uint64) { return 0, 0 }

// links is not known here.
func links(fs.FileInfo) int { return 1 }

// statAt looks at an entry of an open directory.
func statAt(_ *os.File, entry fs.DirEntry) (_ stat, linked bool, err error) {
	info, err := entry.Info()
	if err != nil {
		return stat{}, false, err
	}
	return statOf(info), false, nil
}
