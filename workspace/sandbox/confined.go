package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Confined is a command that runs, or will run, behind walls.
type Confined struct {
	Level Level
	Gaps  []string // in words, which promises of the policy do not hold here

	Signal int  // after Close, on Linux: what ended the command, by number; 0: nothing did
	Left   bool // after Close, on Linux: it left something running, which was ended

	policy  *Policy
	dir     string // where the command starts
	covers  []*cover
	sockets []string // of others, that were hidden
	proxy   *proxy
	finish  func() error // of the system: what the helper told
	opened  []*os.File
	once    sync.Once
	kept    []string // what must not be there after the command, and was not before
	closed  error
	made    []Blocked
}

// ready refuses what cannot be wrapped anywhere.
func (p *Policy) ready(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if cmd.Process != nil {
		return errors.New("sandbox: the command has been started already")
	}
	if p.Network.Open {
		return nil // hosts say nothing then
	}
	if _, err := parseHosts(p.Network.Hosts); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// Close must be called after the command ended or failed to start. It ends the proxy, takes away what was put up, and removes
// what the policy wants absent. Its error says why a command did not run, as an [UnavailableError], or what could not be
// removed. Further calls return the same.
func (c *Confined) Close() error {
	c.once.Do(func() {
		var errs []error
		if c.finish != nil {
			errs = append(errs, c.finish())
		}
		if c.proxy != nil {
			c.proxy.close()
		}
		for _, cover := range c.covers {
			cover.remove()
		}
		c.closed = errors.Join(append(errs, c.sweep())...)
	})
	return c.closed
}

// sweep removes what must not be there and was not before.
func (c *Confined) sweep() error {
	var errs []error
	for _, path := range c.kept {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := removeAnyway(path); err != nil {
			errs = append(errs, fmt.Errorf("%s was made by a command and must not stay, remove it: %w", path, err))
		}
		c.made = append(c.made, Blocked{
			What: Write, Path: path, Why: "it must not come into being, and was removed when the command ended", Undone: true,
		})
	}
	return errors.Join(errs...)
}

// removeAnyway removes a file or a tree also where a command has taken the rights to do so from directories that are ours.
func removeAnyway(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	dir, base := filepath.Split(path)
	root, err := os.OpenRoot(dir) // no link leads out of it, whoever makes one meanwhile
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	const usable = 0o700
	if err := root.Chmod(".", info.Mode().Perm()|usable); err != nil {
		return err
	}
	// What cannot be opened here cannot be removed below, which tells.
	_ = fs.WalkDir(root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = root.Chmod(name, usable)
		}
		return err
	})
	return errors.Join(root.RemoveAll(base), root.Chmod(".", info.Mode().Perm()))
}
