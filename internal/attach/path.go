package attach

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

const (
	// DirName is the directory of the sockets, in Tenon's data directory.
	DirName = "attach"

	suffix  = ".sock"
	longest = 100 // bytes of a path: a socket of macOS has 103, one of Linux 107
)

// Dir returns the directory of the sockets of a data directory. If the path of a socket in the data directory would be too long, it is a
// directory of the account in /tmp. A sandbox must hide it.
func Dir(dataDir string) string {
	dir := filepath.Join(dataDir, DirName)
	if len(dir)+len("/123456789012.4194304") <= longest {
		return dir
	}
	sum := sha256.Sum256([]byte(dataDir))
	return fmt.Sprintf("/tmp/tenon-%d-%x", os.Getuid(), sum[:8])
}

// Path returns the socket of a session.
func Path(dataDir string, id session.SessionID) string {
	return filepath.Join(Dir(dataDir), string(id)+suffix)
}

// makeDir makes a directory that only this account can use, or checks that it is one.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !owned(info) {
		return fmt.Errorf("%w: %s is not a directory of this account; remove it", ErrRefused, dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// List returns the sessions that processes serve now.
func List(ctx context.Context, dataDir string) ([]Session, error) {
	dir := Dir(dataDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Session
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		s, err := Find(ctx, dataDir, session.SessionID(id))
		switch {
		case err == nil:
			out = append(out, s)
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case errors.Is(err, ErrGone):
			sweep(filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// sweep removes the socket of a killed process, unless it is so new that another process may have made it meanwhile.
func sweep(name string) {
	if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
		_ = os.Remove(name)
	}
}

// Find returns the session if a process serves it now, or an [ErrGone].
func Find(ctx context.Context, dataDir string, id session.SessionID) (Session, error) {
	c, err := Dial(ctx, dataDir, id, "")
	if err != nil {
		return Session{}, err
	}
	return c.session, nil
}
