package workspace

import (
	"bytes"
	"io"
	"os"
)

// since returns what was written from an offset on: all of it, or the start and the end when that is more than most bytes, or when
// what lies between is no longer there. If it returns less than all, it puts the output into the file.
func (c *collector) since(from int64, most int) Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	from = max(0, min(from, c.size))
	if c.size-from > int64(max(0, most)) { // the caller must be able to name a file with the rest
		if c.begin(); c.over {
			c.finish()
		}
	}
	out := c.filed(Output{Size: c.size, From: from})
	if room := int64(max(0, most)); c.size-from <= room {
		head, end := c.part(from, c.size)
		out.Head = string(head)
		if end == c.size {
			return out
		}
		from = end
	} else {
		head, end := c.part(from, from+room*2/5)
		out.Head = string(head)
		from = end
	}
	start := max(from, c.size-int64(max(0, most-len(out.Head))), c.size-int64(len(c.tail.buf)))
	tail, _ := c.part(start, c.size)
	out.Tail = string(tail)
	out.Bytes = c.size - int64(len(tail)) - from
	out.Lines = c.before(c.size-int64(len(tail))) - c.before(from)
	out.FromLines = c.before(out.From)
	return out
}

// part returns what is known from an offset on, without a gap, up to another, and where it ends.
func (c *collector) part(from, to int64) ([]byte, int64) {
	part := make([]byte, 0, max(0, to-from))
	ring := c.tail.bytes()
	for at := from; at < to; at = from + int64(len(part)) {
		switch begin := c.size - int64(len(ring)); {
		case at < int64(len(c.head)):
			part = append(part, c.head[at:min(to, int64(len(c.head)))]...)
		case at >= begin:
			part = append(part, ring[at-begin:to-begin]...)
		case at < c.written:
			n := c.read(part[len(part):len(part)+int(min(to, c.written)-at)], at)
			if n == 0 {
				return part, at
			}
			part = part[:len(part)+n]
		default:
			return part, at
		}
	}
	return part, from + int64(len(part))
}

// read reads from the file, which may be closed or gone.
func (c *collector) read(buf []byte, at int64) int {
	file, err := os.Open(c.name)
	if err != nil {
		return 0
	}
	defer file.Close()
	n, _ := io.ReadFull(io.NewSectionReader(file, at, int64(len(buf))), buf)
	return n
}

// before counts the lines before an offset, as far as what was written is still there.
func (c *collector) before(at int64) (lines int64) {
	count := func(data []byte) { lines += int64(bytes.Count(data, []byte{'\n'})) }
	ring := c.tail.bytes()
	if begin := c.size - int64(len(ring)); at >= begin {
		count(ring[at-begin:])
		return c.lines - lines
	}
	if at <= int64(len(c.head)) {
		count(c.head[:at])
		return lines
	}
	if at >= c.written {
		return c.rows
	}
	for buf, next := make([]byte, 64<<10), int64(0); next < at; {
		n := c.read(buf[:min(int64(len(buf)), at-next)], next)
		if n == 0 {
			break
		}
		count(buf[:n])
		next += int64(n)
	}
	return lines
}
