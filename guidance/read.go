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

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// unsure is the time in which a file or directory can change again with the same modification time, because the clocks of file systems are
// coarse.
const unsure = 50 * time.Millisecond

// listing is the names of the context files of a directory.
type listing struct {
	info  fs.FileInfo // of the directory when the guide listed it; nil: it may have changed since then
	names []string    // with their directory
}

// list returns the context files of a directory in their order.
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

// file is a context file as the guide read it.
type file struct {
	info    fs.FileInfo // when the guide read it
	settled bool        // a later change has a new modification time
	real    string      // links resolved
	sum     [sha256.Size]byte
	text    string // for the model; empty: the model does not see the file
	cut     int64  // omitted bytes
	imports []string
}

// same reports whether two files are the same file, or have the same text.
func (f *file) same(o *file) bool {
	return os.SameFile(f.info, o.info) || f.sum == o.sum && f.sum != [sha256.Size]byte{}
}

// load reads a file, unless the guide knows it and it has not changed. If there is no such file, it returns nil.
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
		f.text = fmt.Sprintf("[not shown: %v]", err)
	}
	g.files[name] = f
	return f
}

// Errors about files that the model does not see.
var (
	errOutside = errors.New("it is outside the repository and the directories of your configuration")
	errNoText  = errors.New("it is not a text file")
	errSwapped = errors.New("another program replaced it while Tenon read it")
)

// refused returns an error if the model must not see a file. In the personal directories, which may contain keys, it accepts only text
// files, by name. In the project, Options.Refuse decides. It refuses files in all other directories.
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

// base returns the directory that a resolved path must not leave: the repository or a personal directory, whichever is nearer.
func (g *Guide) base(real string) (base string, ok bool) {
	for _, dir := range append(slices.Clone(g.personal), g.root) {
		if paths.Inside(dir, real) && len(dir) >= len(base) {
			base, ok = dir, true
		}
	}
	return base, ok
}

// read reads a file. If another program moves files meanwhile, it still reads only a file that the model may see.
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

// take makes the text for the model from the contents of a file.
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

// head returns at most the first n bytes of a text, in whole lines if they are short enough.
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
