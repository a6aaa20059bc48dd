package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// NewFile creates a file that only its owner can read, from the output of write. If write fails, no file remains. It replaces a file only
// with force.
func NewFile(name string, force bool, write func(io.Writer) error) (err error) {
	if !force {
		switch _, err := os.Lstat(name); {
		case err == nil:
			return Codef("cli.file_exists", "%s exists; name another file, or replace it with --force", name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part") // never an existing file
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("write %s: %w", name, wrong.Err) // people do not know the temporary file
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

// ReadLimited reads a file of at most limit bytes.
func ReadLimited(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, limit)
	}
	return data, nil
}
