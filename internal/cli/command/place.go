package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/tenon-agent/tenon/internal/app"
)

// Elsewhere adds a hint if the configuration directory is not writable.
func Elsewhere(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w; set TENON_CONFIG_DIR to a writable directory", err)
	}
	return err
}

// PlaceOf returns a directory in the form that sessions record. A deleted directory still has its sessions.
func PlaceOf(name string) (string, error) {
	dir, err := app.Directory(name)
	if name == "" || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if above, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(above, filepath.Base(abs)), nil
	}
	return abs, nil
}
