package workspace

import (
	"bytes"
	"cmp"
	"os"
	"sync"
)

// Output is the standard output and standard error of a command, in order.
type Output struct {
	Head, Tail string // all of it is in Head, unless Bytes counts missing bytes between them
	Lines      int64  // missing lines
	Bytes      int64  // missing bytes
	From       int64  // bytes before Head
	FromLines  int64  // lines before Head, if bytes are missing
	Size       int64  // bytes in all
	File       string // absolute path of a file with the output from its beginning; empty if it is short
	FileBytes  int64  // bytes in the file
	Lost       string // why the file is missing or incomplete, if the reason is no limit
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
	over  bool  // nothing is written any more

	file    *os.File // nil once it is finished
	name    string
	written int64
	rows    int64 // lines in the file
	err     error // why there is no file, or no more of it
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

// Write takes output. It never fails.
func (c *collector) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := len(data)
	// The output in memory goes to the file before its first byte could be overwritten.
	if c.size+int64(all) > int64(c.spill) {
		c.begin()
	}
	if c.file != nil {
		c.save(data)
	}
	c.size += int64(all)
	c.lines += int64(bytes.Count(data, []byte{'\n'}))
	if n := min(c.first-len(c.head), len(data)); n > 0 {
		c.head = append(c.head, data[:n]...)
		data = data[n:]
	}
	c.tail.write(data)
	return all, nil
}

// begin makes the file, unless there was one. All of the output is in memory.
func (c *collector) begin() {
	if c.name != "" || c.err != nil {
		return
	}
	if c.file, c.err = c.outputs.create(); c.err == nil {
		c.name = c.file.Name()
		c.save(c.head)
		c.save(c.tail.bytes())
	}
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
	c.err = err
}

// finish ends the file.
func (c *collector) finish() {
	if c.file != nil {
		c.err = cmp.Or(c.err, c.outputs.finish(c.file))
		c.file = nil
	}
}

// filed returns an output with the facts about the file.
func (c *collector) filed(out Output) Output {
	if c.written > 0 {
		out.File, out.FileBytes = c.name, c.written
	}
	if c.err != nil {
		out.Lost = c.err.Error()
	}
	return out
}

// output returns all of the output, after the last write.
func (c *collector) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.finish()
	tail := c.tail.bytes()
	out := c.filed(Output{Size: c.size, Bytes: c.size - int64(len(c.head)) - int64(len(tail))})
	if out.Bytes == 0 {
		out.Head = string(c.head) + string(tail)
	} else {
		out.Head, out.Tail = string(c.head), string(tail)
		out.Lines = c.lines - int64(bytes.Count(c.head, []byte{'\n'})+bytes.Count(tail, []byte{'\n'}))
	}
	return out
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
