package checkpoint

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A pack is a file of contents. Each has a header before it: the hash, how it is stored, and its size before and after that.
// A pack gets its name when it is whole, and is never changed.
const (
	packSuffix = ".pack"
	tempPrefix = "tmp-"
	headerSize = len(sum{}) + 1 + 8 + 8
)

type method byte

const (
	plain    method = 0
	deflated method = 1
)

// entry is the header of a content.
type entry struct {
	hash         sum
	method       method
	size, stored int64
}

// location is where a content is.
type location struct {
	entry
	file   string
	offset int64 // of the content, behind its header
}

func (e entry) encode() []byte {
	b := append(make([]byte, 0, headerSize), e.hash[:]...)
	b = append(b, byte(e.method))
	b = binary.BigEndian.AppendUint64(b, uint64(e.size))
	return binary.BigEndian.AppendUint64(b, uint64(e.stored))
}

// maxStored is more than any content has.
const maxStored = 1 << 40

func decode(b []byte) (e entry, ok bool) {
	copy(e.hash[:], b)
	b = b[len(e.hash):]
	e.method = method(b[0])
	e.size, e.stored = int64(binary.BigEndian.Uint64(b[1:])), int64(binary.BigEndian.Uint64(b[9:]))
	ok = e.method <= deflated && e.size >= 0 && e.stored >= 0 && e.size < maxStored && e.stored < maxStored
	return e, ok && (e.method == deflated || e.size == e.stored)
}

// deflate makes a content small, if that is possible.
func deflate(data []byte) ([]byte, method) {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // fails for a wrong level only
	_, _ = w.Write(data)                         // a buffer takes all
	_ = w.Close()
	if b.Len() >= len(data) {
		return data, plain
	}
	return b.Bytes(), deflated
}

// read reads a content from its pack.
func (l location) read(f io.ReaderAt) ([]byte, error) {
	var in io.Reader = io.NewSectionReader(f, l.offset, l.stored)
	if l.method == deflated {
		in = flate.NewReader(in)
	}
	// The size is only believed as far as there is something to read.
	data, err := readUpTo(in, make([]byte, 0, min(l.size+1, 1<<20)), l.size+1)
	if err == nil && int64(len(data)) != l.size {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// index reads the headers of a pack. A pack that ends too early has what is whole in it.
func (s *Store) index(name string) error {
	f, err := s.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s.files[name] = info.Size()
	s.size += info.Size()
	header := make([]byte, headerSize)
	for at := int64(0); ; {
		if _, err := f.ReadAt(header, at); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		e, ok := decode(header)
		at += int64(headerSize)
		if !ok || at+e.stored > info.Size() {
			return nil
		}
		s.where[e.hash] = location{e, name, at}
		at += e.stored
	}
}

// pack is a file that is being written. It belongs to one goroutine.
type pack struct {
	f     *os.File
	temp  string
	out   *bufio.Writer
	at    int64
	added []location
}

func (s *Store) create() (*pack, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	temp := tempPrefix + rand.Text()
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &pack{f: f, temp: temp, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (p *pack) add(e entry, body []byte) error {
	if _, err := p.out.Write(e.encode()); err != nil {
		return err
	}
	if _, err := p.out.Write(body); err != nil {
		return err
	}
	p.at += int64(headerSize)
	p.added = append(p.added, location{entry: e, offset: p.at})
	p.at += e.stored
	return nil
}

// finish gives a pack its name, or removes it when there is an error.
func (s *Store) finish(p *pack, name string, err error) error {
	if err == nil {
		err = p.out.Flush()
	}
	if e := p.f.Close(); err == nil {
		err = e
	}
	if err == nil && len(p.added) > 0 {
		err = s.root.Rename(p.temp, name)
	}
	if err != nil || len(p.added) == 0 {
		_ = s.root.Remove(p.temp)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = p.at
	s.size += p.at
	s.wrote[name] = true
	for _, l := range p.added {
		l.file = name
		s.where[l.hash] = l
	}
	return nil
}

// Sync makes durable what was kept.
func (s *Store) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrote) == 0 {
		return nil
	}
	for name := range s.wrote {
		f, err := s.root.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		if err = errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		delete(s.wrote, name)
	}
	if d, err := s.root.Open("."); err == nil {
		_ = d.Sync() // some systems cannot
		d.Close()
	}
	return nil
}
