package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/workspace/host"
)

// Confined is a command that runs, or will run, in the sandbox.
type Confined struct {
	Level Level
	Gaps  []string // the promises of the policy that do not hold here

	Signal int  // after Close, on Linux: number of the signal that ended the command; 0: none
	Left   bool // after Close, on Linux: it left processes running, which were ended

	policy  *Policy
	dir     string // where the command starts
	covers  []*cover
	sockets []string // of others, that were hidden
	homes   []string // directories that show as empty ones
	proxy   *proxy
	inner   net.Listener          // of the proxy, in a shared network
	start   func(*exec.Cmd) error // in a shared network; nil: as any command
	finish  func() error          // of the system: reads the answer of the helper
	release func()                // of the system: removes what the command ran in
	opened  []*os.File
	once    sync.Once
	kept    []string               // files that must not exist after the command, and did not before
	guarded map[string]fs.FileInfo // protected files and directories at the start
	closed  error
	made    []Blocked
}

// Start starts the command, instead of its own Start. In a network that commands share, its input and output are files.
func (c *Confined) Start(cmd *exec.Cmd) error {
	if c.start != nil {
		return c.start(cmd)
	}
	return cmd.Start()
}

// ready refuses a command that cannot be wrapped on any system.
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
	if _, err := host.Parse(p.Network.Hosts...); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// Close must be called after the command ended or failed to start. It ends the proxy, removes the covers, and removes files that the policy
// wants absent. Its error has the reason why a command did not run, as an [UnavailableError], or the files that it could not remove. Further
// calls return the same.
func (c *Confined) Close() error {
	c.once.Do(func() {
		var errs []error
		if c.finish != nil {
			errs = append(errs, c.finish())
		}
		if c.release != nil {
			c.release()
		}
		if c.proxy != nil {
			c.proxy.close()
		} else if c.inner != nil {
			c.inner.Close()
		}
		for _, cover := range c.covers {
			cover.remove()
		}
		c.closed = errors.Join(append(errs, c.sweep())...)
		c.compare()
	})
	return c.closed
}

// compare reports protected files that are others than at the start. A program outside replaced them, and the system takes the protection of a
// name away with the file that had it.
func (c *Confined) compare() {
	for _, path := range slices.Sorted(maps.Keys(c.guarded)) {
		if now, err := os.Lstat(path); err != nil || !os.SameFile(now, c.guarded[path]) {
			c.made = append(c.made, Blocked{
				What: Write, Path: path, Replaced: true,
				Why: "it is protected, and a program outside replaced or removed it while the command ran. The command could write the new one from then on; look at it",
			})
		}
	}
}

// sweep removes files that must not exist and did not before.
func (c *Confined) sweep() error {
	var errs []error
	for _, path := range c.kept {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := RemoveAll(path); err != nil {
			errs = append(errs, fmt.Errorf("%s was made by a command and must not stay, remove it: %w", path, err))
		}
		c.made = append(c.made, Blocked{
			What: Write, Path: path, Why: "it must not come into being, and was removed when the command ended", Undone: true,
		})
	}
	return errors.Join(errs...)
}

// RemoveAll removes a file or a tree, also if a command has taken the rights to do so from directories of this user.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	dir, base := filepath.Split(path)
	root, err := os.OpenRoot(dir) // no link leads out of it, also one that is made meanwhile
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
	// If a directory cannot be opened here, its removal below fails with the reason.
	_ = fs.WalkDir(root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = root.Chmod(name, usable)
		}
		return err
	})
	return errors.Join(root.RemoveAll(base), root.Chmod(".", info.Mode().Perm()))
}
