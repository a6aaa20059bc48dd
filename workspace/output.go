package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Output is what a command wrote to its standard output and standard error, in order.
type Output struct {
	Head, Tail string // all of it in Head, unless Bytes says that some is missing between them
	Lines      int64  // missing lines
	Bytes      int64  // missing bytes
	Size       int64  // bytes in all
	File       string // absolute path of a file with more of it; empty when it is short. Close removes it
	FileBytes  int64  // bytes in the file
}

// outputs is a private directory for the files of output, made with the first of them.
type outputs struct {
	parent string // where the directory is made; itself made when it is not there; empty: the system's for temporary files

	mu    sync.Mutex
	dir   string
	open  *os.Root
	held  *os.File     // shows others that this process lives; nil where there are no locks
	files []outputFile // oldest first
	size  int64
}

type outputFile struct {
	name string
	size int64
}

// outputsName is how the names of such directories begin.
const outputsName = "tenon-output-"

// maxOutputs is how many bytes of output all commands of a workspace keep on disk; the oldest go first.
const maxOutputs = 512 << 20

func (o *outputs) root() (*os.Root, string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open, o.dir
}

func (o *outputs) create() (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		if err := o.make(); err != nil {
			return nil, err
		}
	}
	return os.CreateTemp(o.dir, "*.txt")
}

// make makes the directory, and removes those that killed processes have left.
func (o *outputs) make() error {
	temp := cmp.Or(o.parent, filepath.Join(os.TempDir(), outputsName))
	if strings.HasPrefix(filepath.Base(temp), outputsName) {
		sweepAbandoned(filepath.Dir(temp))
	}
	var err error
	for range 100 { // others may remove what is empty or not held yet
		var held *os.File
		if held, err = o.hold(); err == nil {
			o.held = held
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// hold makes the directory and holds it, or the one in which it lies.
func (o *outputs) hold() (held *os.File, err error) {
	defer func() {
		if err != nil && held != nil {
			held.Close()
		}
	}()
	name := outputsName
	if o.parent != "" {
		if err := os.Mkdir(o.parent, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if held, err = claim(o.parent); err != nil {
			return nil, err
		}
		name = ""
	}
	dir, err := os.MkdirTemp(o.parent, name)
	if err != nil {
		return held, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return held, err
	}
	if o.parent == "" {
		if held, err = claim(dir); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return held, errors.Join(err, os.Remove(dir))
	}
	o.dir, o.open = dir, root
	return held, nil
}

// keep counts a finished file and removes the oldest when there are too many bytes.
func (o *outputs) keep(name string, size int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files = append(o.files, outputFile{name, size})
	o.size += size
	for o.size > maxOutputs && len(o.files) > 1 {
		_ = os.Remove(o.files[0].name)
		o.size -= o.files[0].size
		o.files = o.files[1:]
	}
}

func (o *outputs) remove() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		return nil
	}
	err := errors.Join(o.open.Close(), os.RemoveAll(o.dir))
	if o.parent != "" {
		_ = os.Remove(o.parent) // unless others use it
	}
	if o.held != nil {
		o.held.Close()
	}
	o.open, o.dir, o.held = nil, "", nil
	return err
}

// collector keeps the start and the end of what is written to it, and puts all of it in a file from a size on. One goroutine
// writes and then asks for all; meanwhile others may ask for a part.
type collector struct {
	mu      sync.Mutex
	outputs *outputs
	spill   int   // size from which there is a file
	most    int64 // size of the file at which it ends

	first int // bytes that the head gets
	head  []byte
	tail  ring
	size  int64
	lines int64 // written in all

	file    *os.File
	written int64
	rows    int64 // lines in the file
	err     error // why there is no file
}

func newCollector(o *outputs, capture, spill int, most int64) *collector {
	first := capture * 2 / 5
	return &collector{
		outputs: o,
		spill:   min(spill, capture),
		most:    most,
		first:   first,
		tail:    ring{limit: capture - first},
	}
}

func (c *collector) write(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// What is in memory goes to the file before the first byte could be overwritten.
	if c.file == nil && c.err == nil && c.size+int64(len(data)) > int64(c.spill) {
		if c.file, c.err = c.outputs.create(); c.err == nil {
			c.save(c.head)
			c.save(c.tail.bytes())
		}
	}
	if c.file != nil {
		c.save(data)
	}
	c.size += int64(len(data))
	c.lines += int64(bytes.Count(data, []byte{'\n'}))
	if n := min(c.first-len(c.head), len(data)); n > 0 {
		c.head = append(c.head, data[:n]...)
		data = data[n:]
	}
	c.tail.write(data)
}

// save adds to the file up to its limit. A full disk ends it; the command goes on.
func (c *collector) save(data []byte) {
	if room := c.most - c.written; int64(len(data)) > room {
		data = data[:room]
	}
	if len(data) == 0 || c.err != nil {
		return
	}
	n, err := c.file.Write(data)
	c.written += int64(n)
	c.rows += int64(bytes.Count(data[:n], []byte{'\n'}))
	c.err = cmp.Or(c.err, err)
}

func (c *collector) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail.bytes()
	out := Output{Size: c.size, Bytes: c.size - int64(len(c.head)) - int64(len(tail))}
	if out.Bytes == 0 {
		out.Head = string(c.head) + string(tail)
	} else {
		out.Head, out.Tail = string(c.head), string(tail)
		out.Lines = c.lines - int64(bytes.Count(c.head, []byte{'\n'})+bytes.Count(tail, []byte{'\n'}))
	}
	if c.file != nil {
		out.File, out.FileBytes = c.file.Name(), c.written
		c.err = errors.Join(c.err, c.file.Close())
		c.outputs.keep(out.File, out.FileBytes)
	}
	return out
}

// failure says why the file is missing or short, if it is.
func (c *collector) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("the full output could not be kept: %w", c.err)
	}
	return nil
}

// ring is the last bytes of a stream. It grows to its limit as it fills.
type ring struct {
	limit int
	buf   []byte
	next  int // where the oldest byte is, once buf is full
}

func (r *ring) write(data []byte) {
	if len(data) > r.limit {
		data = data[len(data)-r.limit:]
	}
	if n := min(r.limit-len(r.buf), len(data)); n > 0 {
		r.buf = append(r.buf, data[:n]...)
		data = data[n:]
	}
	for len(data) > 0 {
		n := copy(r.buf[r.next:], data)
		data = data[n:]
		r.next = (r.next + n) % r.limit
	}
}

func (r *ring) bytes() []byte {
	return append(append(make([]byte, 0, len(r.buf)), r.buf[r.next:]...), r.buf[:r.next]...)
}
