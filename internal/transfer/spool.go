package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// spool keeps events in a temporary file until their order is known.
type spool struct {
	file *os.File
	out  *bufio.Writer
	end  int64
}

// segment is the position of an event in the spool.
type segment struct {
	at   int64
	size int
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "tenon-import-*") // readable by its owner only
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // if the system can remove an open file, a killed process leaves nothing
	return &spool{file: f, out: bufio.NewWriterSize(f, 256<<10)}, nil
}

// close removes the file.
func (s *spool) close() error {
	err := s.file.Close()
	if e := os.Remove(s.file.Name()); e != nil && !errors.Is(e, os.ErrNotExist) {
		return e
	}
	return err
}

// add appends an event without an ID: a line with time and kind, then the body.
func (s *spool) add(e session.Event) (segment, error) {
	kind, body, err := session.EncodeBody(e.Body)
	if err != nil {
		return segment{}, err
	}
	seg := segment{at: s.end}
	head, err := fmt.Fprintf(s.out, "%d %s\n", e.Time.UnixMicro(), kind)
	if err == nil {
		_, err = s.out.Write(body)
	}
	seg.size = head + len(body)
	s.end += int64(seg.size)
	return seg, err
}

func (s *spool) get(seg segment) (e session.Event, err error) {
	if s.out.Buffered() > 0 {
		if err := s.out.Flush(); err != nil {
			return e, err
		}
	}
	data := make([]byte, seg.size)
	if _, err := s.file.ReadAt(data, seg.at); err != nil {
		return e, err
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	var (
		micro int64
		kind  string
	)
	if _, err := fmt.Sscan(string(head), &micro, &kind); err != nil {
		return e, err
	}
	e.Time = time.UnixMicro(micro).UTC()
	e.Body, err = session.DecodeBody(kind, body)
	return e, err
}
