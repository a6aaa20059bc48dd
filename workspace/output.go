package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Output is the standard output and standard error of a command, in order.
type Output struct {
	Head, Tail string // all of it is in Head, unless Bytes counts missing bytes between them
	Lines      int64  // missing lines
	Bytes      int64  // missing bytes
	Size       int64  // bytes in all
	File       string // absolute path of a file with more of it; empty if it is short
	FileBytes  int64  // bytes in the file
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
	kept    string // the path of the whole output, after the command
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
	// The output in memory goes to the file before its first byte could be overwritten.
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

// output returns all of the output, after the last write. known says that others know the file.
func (c *collector) output(known bool) Output {
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
		c.err = errors.Join(c.err, c.file.Close())
		c.kept = c.outputs.finish(c.file.Name(), c.written, known)
		out.File, out.FileBytes = c.kept, c.written
	}
	return out
}

// failure returns the reason why the file is missing or short, if it is.
func (c *collector) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("cannot keep the full output: %w", c.err)
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
