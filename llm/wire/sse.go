package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Event is one server-sent event. Its bytes are valid until the next one is read.
type Event struct {
	Name []byte // of the field "event"; empty when there is none
	Data []byte // the lines of the fields "data", joined by newlines
}

// EventReader reads a stream of server-sent events as https://html.spec.whatwg.org/multipage/server-sent-events.html
// describes them, with three exceptions that model servers ask for: lines end with LF or CRLF only; the last event counts
// although no empty line follows it; and a line that begins with a brace counts as data, together with the rest of its JSON
// value, because some servers write a bare error into the stream. It skips events without data, and keeps at most 32 MiB.
type EventReader struct {
	r    *bufio.Reader
	line []byte // a line that is longer than the buffer of r
	name []byte
	data []byte
	any  bool // a field "data" has come
	bare bool // a value has begun that is data without being a field
	bom  bool // the beginning was looked at
}

// NewEventReader returns a reader of the events in r.
func NewEventReader(r io.Reader) *EventReader { return &EventReader{r: bufio.NewReader(r)} }

var errTooLong = errors.New("wire: the event is longer than 32 MiB")

// Next returns the next event. The error is io.EOF at the end, that of the reader, or says that an event is too long.
func (r *EventReader) Next() (Event, error) {
	r.name, r.data, r.any, r.bare = r.name[:0], r.data[:0], false, false
	for {
		line, err := r.readLine()
		if err != nil {
			if err == io.EOF && r.any {
				return Event{Name: r.name, Data: r.data}, nil
			}
			return Event{}, err
		}
		if len(line) > 0 {
			if !r.field(line) {
				return Event{}, errTooLong
			}
			continue
		}
		if r.any {
			return Event{Name: r.name, Data: r.data}, nil
		}
		r.name = r.name[:0]
	}
}

// field takes in one line. It reports whether there was room for it.
func (r *EventReader) field(line []byte) bool {
	if line[0] == '{' || r.bare && bytes.IndexByte([]byte(" \t\"{}[]"), line[0]) >= 0 {
		r.bare = true
		return r.addData(line)
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return r.addData(value)
	case "event":
		r.name = append(r.name[:0], value...)
	}
	return true
}

func (r *EventReader) addData(value []byte) bool {
	if len(r.data)+len(value) > maxEvent {
		return false
	}
	if r.any {
		r.data = append(r.data, '\n')
	}
	r.data, r.any = append(r.data, value...), true
	return true
}

// readLine returns the next line without its end. It is valid until the next call.
func (r *EventReader) readLine() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = r.readLong(line)
	}
	if err == io.EOF && len(line) > 0 {
		err = nil // what follows is io.EOF again
	}
	if err != nil {
		return nil, err
	}
	if !r.bom {
		r.bom = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (r *EventReader) readLong(begin []byte) ([]byte, error) {
	r.line = append(r.line[:0], begin...)
	for {
		more, err := r.r.ReadSlice('\n')
		if len(r.line)+len(more) > maxEvent {
			return nil, errTooLong
		}
		r.line = append(r.line, more...)
		if err != bufio.ErrBufferFull {
			return r.line, err
		}
	}
}
