package workspace

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// outputs keep the long outputs of commands: in a file while a command runs, and then in a store of contents.
type outputs struct {
	store contents.Store // nil: they stay in the directory until the workspace is closed

	mu   sync.Mutex
	dir  string // of the files; made with the first one
	own  bool   // the directory is for these files alone
	open *os.Root
	left []outputFile // after their commands, the oldest first
	size int64        // bytes of them
}

type outputFile struct {
	name string
	size int64
}

// maxOutputs is the size of all files that stay in the directory, in bytes. The oldest go first.
const maxOutputs = 512 << 20

// tree returns the directory of outputs, if a path lies in it.
func (o *outputs) tree(abs string) (tree, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d, is := o.store.(*contents.Dir); o.open == nil && is && paths.Inside(d.Path(), abs) {
		_ = o.make() // of an earlier process
	}
	return tree{o.dir, o.open}, o.open != nil && paths.Inside(o.dir, abs) && o.dir != abs
}

func (o *outputs) create() (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return nil, err
	}
	return os.CreateTemp(o.dir, "tmp-*")
}

// make makes the directory, unless it is there. mu is held.
func (o *outputs) make() (err error) {
	if o.open != nil {
		return nil
	}
	var dir string
	if d, is := o.store.(*contents.Dir); is {
		dir, err = d.Path(), os.MkdirAll(d.Path(), 0o700)
	} else {
		o.own = true
		dir, err = os.MkdirTemp("", "tenon-output-")
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	o.dir = dir
	o.open, err = os.OpenRoot(dir)
	return err
}

// finish puts the output of a finished command into the store, and returns the path of a file with it. If others know the first file, it
// stays until the workspace is closed.
func (o *outputs) finish(name string, size int64, known bool) string {
	var kept string
	f, err := os.Open(name)
	if err == nil {
		kept, err = o.put(context.Background(), f)
		f.Close()
	}
	if err == nil && !known {
		_ = os.Remove(name)
		return kept
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = append(o.left, outputFile{name, size})
	o.size += size
	for o.size > maxOutputs && len(o.left) > 1 {
		_ = os.Remove(o.left[0].name)
		o.size -= o.left[0].size
		o.left = slices.Delete(o.left, 0, 1)
	}
	return cmp.Or(kept, name)
}

// put keeps a text, and returns the path of a file with it.
func (o *outputs) put(ctx context.Context, r io.Reader) (string, error) {
	if o.store == nil {
		return "", errNoOutputs
	}
	kept, err := contents.Put(ctx, o.store, r)
	switch {
	case err != nil:
		return "", err
	case kept.Lost != "":
		return "", errors.New(kept.Lost)
	}
	o.mu.Lock()
	err = o.make()
	o.mu.Unlock()
	if err != nil {
		return "", err
	}
	return contents.File(ctx, o.store, kept.Hash, o.dir)
}

func (o *outputs) remove() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		return nil
	}
	for _, f := range o.left {
		_ = os.Remove(f.name)
	}
	err = o.open.Close()
	if o.own {
		err = errors.Join(err, os.RemoveAll(o.dir))
	}
	o.open, o.dir = nil, ""
	return err
}

var errNoOutputs = errors.New("there is no store of outputs")
