package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// newFile makes a file for its owner alone from what write writes: whole, or not at all. One that is there is replaced by force only.
func newFile(name string, force bool, write func(io.Writer) error) (err error) {
	if !force {
		switch _, err := os.Lstat(name); {
		case err == nil:
			return fmt.Errorf("%s exists: name another file, or use --force to replace it", name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part") // no file that is there
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("write %s: %w", name, wrong.Err) // nobody knows the other name
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}
