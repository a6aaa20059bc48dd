package guidance

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// unsure is how long after a change a file or directory may change again without another time of change: clocks of file systems are coarse.
const unsure = 50 * time.Millisecond

// listing is which context files a directory has.
type listing struct {
	info  fs.FileInfo // of the directory, when it was looked at; nil: what was seen may have changed since
	names []string    // with their directory
}

// list is the context files that a directory has, in their order.
func (g *Guide) list(dir string) []string {
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	known := g.dirs[dir]
	if fresh(known.info, info) {
		return known.names
	}
	known = listing{}
	if time.Since(info.ModTime()) > unsure {
		known.info = info
	}
	for _, name := range g.names {
		name = filepath.Join(dir, name)
		if _, err := os.Lstat(name); err == nil {
			known.names = append(known.names, name)
		}
	}
	g.dirs[dir] = known
	return known.names
}

// file is a context file as it was read.
type file struct {
	info    fs.FileInfo // when it was read
	settled bool        // nothing can have changed since without a new time
	real    string      // links resolved
	sum     [sha256.Size]byte
	text    string // as it is told; empty: there is nothing to be told
	cut     int64  // bytes that are left out
	imports []string
}

// same reports whether two files are one, or say the same.
func (f *file) same(o *file) bool {
	return os.SameFile(f.info, o.info) || f.sum == o.sum && f.sum != [sha256.Size]byte{}
}

// load reads a file, unless it is known and has not changed. Nil: there is none.
func (g *Guide) load(name string) *file {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	known := g.files[name]
	if known != nil && known.settled && fresh(known.info, info) && g.refused(known.real) == nil {
		return known
	}
	f := &file{info: info, settled: time.Since(info.ModTime()) > unsure}
	if err := g.read(name, f); err != nil {
		f.settled = false
		f.text = fmt.Sprintf("[not told: %v]", err)
	}
	g.files[name] = f
	return f
}

// Errors about files that are not told.
var (
	errOutside = errors.New("it lies outside the repository and the directories of your configuration")
	errNoText  = errors.New("it is no text")
	errSwapped = errors.New("it was replaced while it was read")
)

// refused says why a file must not be told: what is no text by its name in the directories of the person, where keys may lie, what the rules
// refuse in the project, and all that lies elsewhere.
func (g *Guide) refused(real string) error {
	switch base, ok := g.base(real); {
	case !ok:
		return errOutside
	case base != g.root:
		if ext := filepath.Ext(real); ext != ".md" && ext != ".txt" {
			return errNoText
		}
		return nil
	case g.options.Refuse != nil:
		return g.options.Refuse(real)
	default:
		return nil
	}
}

// base is the directory that a resolved path must not leave: the repository or one of the person's, the one that is nearer.
func (g *Guide) base(real string) (base string, ok bool) {
	for _, dir := range append(slices.Clone(g.personal), g.root) {
		if below(dir, real) && len(dir) >= len(base) {
			base, ok = dir, true
		}
	}
	return base, ok
}

// read reads a file. Whatever is moved meanwhile, it is one that may be told.
func (g *Guide) read(name string, f *file) (err error) {
	if f.real, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	if err := g.refused(f.real); err != nil {
		return err
	}
	base, _ := g.base(f.real)
	rel, err := filepath.Rel(base, f.real)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	in, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	if now, err := in.Stat(); err != nil || !os.SameFile(now, f.info) {
		return errors.Join(err, errSwapped)
	}
	data, err := io.ReadAll(io.LimitReader(in, int64(g.options.MaxFile)+1))
	if err != nil {
		return err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return errNoText
	}
	f.take(g, name, string(data))
	return nil
}

// take makes what is told of what a file says.
func (f *file) take(g *Guide, name, said string) {
	size := max(f.info.Size(), int64(len(said)))
	text := head(said, g.options.MaxFile)
	f.cut = size - int64(len(text))
	if f.cut == 0 {
		f.sum = sha256.Sum256([]byte(strings.TrimSpace(said)))
	}
	text = strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), "\ufffd"))
	f.imports = imports(text, filepath.Dir(name), g.options.Home)
	if g.options.Clean != nil {
		text = g.options.Clean(text)
	}
	f.text = text
	if text == "" {
		f.cut = 0
	}
}

// head is the beginning of a text of at most n bytes, in whole lines where they are short enough.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[:max(n, 0)]
	if i := strings.LastIndexByte(text, '\n'); i > len(text)/2 {
		text = text[:i]
	}
	return strings.ToValidUTF8(text, "")
}
