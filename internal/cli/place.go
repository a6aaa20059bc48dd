package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// directory returns the absolute path of a directory, links resolved, so that a session is found again however one gets
// there.
func directory(name string) (string, error) {
	if name == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the working directory: %w; name one with -C", err)
		}
		name = wd
	}
	abs, err := filepath.Abs(name)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("open the working directory: %w; name another with -C", err)
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return "", fmt.Errorf("%s is no directory; name one with -C", abs)
	}
	f, err := os.Open(abs) // whether it can be read is told now, not by each tool
	if err != nil {
		return "", fmt.Errorf("open the working directory: %w; name another with -C", err)
	}
	return abs, f.Close()
}

// projectOf is where the search for a project's configuration begins: links resolved, so that it goes upwards from where one works.
// Whether one can work there is told later.
func projectOf(dir string) string {
	if dir == "" {
		dir, _ = os.Getwd()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved
	}
	return abs
}

// elsewhere says what helps when nothing can be written where the configuration is.
func elsewhere(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w; TENON_CONFIG_DIR can name a directory that you can write", err)
	}
	return err
}
