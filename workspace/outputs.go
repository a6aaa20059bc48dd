package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// outputs keep the long outputs of commands and other long texts, each in a file with a number for a name. The file has its name from the
// beginning, so that a result can name it while the command runs, and after a crash.
type outputs struct {
	place string // Outputs of the options

	mu    sync.Mutex
	dir   string // resolved; made with the first file
	open  *os.Root
	last  int          // the newest number
	grows map[int]bool // files that are not finished
}

// The sizes of one file and of all files, in bytes. The oldest files go first.
const (
	maxOutput  = 64 << 20
	maxOutputs = 512 << 20
)

// tree returns the directory of outputs, if a path lies in it.
func (o *outputs) tree(abs string) (tree, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil && o.place != "" && paths.Inside(o.place, abs) {
		_ = o.make() // of an earlier process
	}
	return tree{o.dir, o.open}, o.open != nil && paths.Inside(o.dir, abs) && o.dir != abs
}

// create makes the file of an output. The caller calls finish.
func (o *outputs) create() (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return nil, err
	}
	for {
		o.last++
		f, err := os.OpenFile(o.file(o.last), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			o.grows[o.last] = true
		}
		return f, err
	}
}

func (o *outputs) file(n int) string { return filepath.Join(o.dir, strconv.Itoa(n)+".txt") }

// make makes the directory, unless it is there. mu is held.
func (o *outputs) make() (err error) {
	if o.open != nil {
		return nil
	}
	dir := o.place
	if dir == "" {
		dir, err = os.MkdirTemp("", "tenon-output-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	if o.open, err = os.OpenRoot(dir); err != nil {
		return err
	}
	o.dir, o.grows = dir, map[int]bool{}
	if kept := o.kept(); len(kept) > 0 {
		o.last = kept[len(kept)-1].number
	}
	return nil
}

type keptOutput struct {
	number int
	size   int64
}

// kept returns the files, the oldest first. mu is held.
func (o *outputs) kept() (all []keptOutput) {
	entries, _ := os.ReadDir(o.dir)
	for _, e := range entries {
		n, err := strconv.Atoi(strings.TrimSuffix(e.Name(), ".txt"))
		if info, gone := e.Info(); err == nil && gone == nil {
			all = append(all, keptOutput{n, info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b keptOutput) int { return a.number - b.number })
	return all
}

// finish makes a file durable, and removes the oldest ones if there are too many. An empty file goes, too.
func (o *outputs) finish(f *os.File) error {
	info, err := f.Stat()
	err = errors.Join(err, f.Sync(), f.Close())
	o.mu.Lock()
	defer o.mu.Unlock()
	n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(f.Name()), ".txt"))
	delete(o.grows, n)
	if info != nil && info.Size() == 0 {
		return errors.Join(err, os.Remove(f.Name()))
	}
	all, size := o.kept(), int64(0)
	for _, k := range all {
		size += k.size
	}
	for _, k := range all {
		if size > maxOutputs && k.number != n && !o.grows[k.number] && os.Remove(o.file(k.number)) == nil {
			size -= k.size
		}
	}
	return err
}

// put keeps a text, and returns the path of its file.
func (o *outputs) put(text string) (path string, err error) {
	switch {
	case o.place == "":
		return "", errors.New("there is no directory of outputs")
	case len(text) > maxOutput:
		return "", fmt.Errorf("it has %d bytes, more than %d", len(text), maxOutput)
	}
	f, err := o.create()
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, o.finish(f)); err != nil {
		return "", errors.Join(err, removeIfThere(f.Name()))
	}
	return f.Name(), nil
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove closes the directory, and removes it if the options do not name it.
func (o *outputs) remove() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		return nil
	}
	err = o.open.Close()
	if o.place == "" {
		err = errors.Join(err, os.RemoveAll(o.dir))
	}
	o.open, o.dir = nil, ""
	return err
}
