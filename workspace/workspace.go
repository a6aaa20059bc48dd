package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Workspace is a project on disk. It is safe for concurrent use.
type Workspace struct {
	dir  string // absolute and clean, no links
	root *os.Root

	writing sync.Mutex // from the last look at a file to its replacement

	outputs outputs // full output of commands
	jobs    jobs    // what commands left running
}

// Open opens the project in dir. The caller closes it.
func Open(dir string) (*Workspace, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return &Workspace{dir: abs, root: root}, nil
}

// Close ends what commands left running in the background, removes the files of their output, and releases the directory.
// No method may be called at the same time or later.
func (w *Workspace) Close() error {
	w.jobs.end()
	return errors.Join(w.outputs.remove(), w.root.Close())
}

// Kill ends the commands that run and what others left running, without the request and the grace of a cancelled [Workspace.Run].
// It is for a program that is about to leave at once, and may be called at any time before Close returns.
func (w *Workspace) Kill() { w.jobs.kill() }

// Dir is the root of the project, an absolute path without links.
func (w *Workspace) Dir() string { return w.dir }
