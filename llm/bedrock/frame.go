package bedrock

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
)

// frame is one message of an event stream (application/vnd.amazon.eventstream):
//
//	length of all (4 bytes), length of the headers (4), CRC of these 8 bytes (4), headers, payload, CRC of all before (4)
//
// Its bytes are valid until the next one is read.
type frame struct {
	message   []byte // :message-type, which is event, exception or error
	event     []byte // :event-type
	exception []byte // :exception-type
	code      []byte // :error-code
	text      []byte // :error-message
	payload   []byte // JSON
}

// Sizes in bytes. AWS allows payloads of 16 MB.
const (
	preludeSize = 12
	sumSize     = 4
	maxHeaders  = 128 << 10
	maxFrame    = 16<<20 + maxHeaders + preludeSize + sumSize
	readStep    = 64 << 10 // a message is believed to be as long as it says only as its bytes come
)

// Errors of a malformed stream.
var (
	errCut    = errors.New("the stream ended in the middle of a message")
	errSum    = errors.New("a message of the stream is damaged: its checksum is wrong")
	errLength = errors.New("a message of the stream has an impossible length")
	errHeader = errors.New("a message of the stream has malformed headers")
)

// frameReader reads an event stream. The library of AWS reads one too, but takes 25 times as long, with dozens of allocations
// for each message.
type frameReader struct {
	r       io.Reader
	prelude [preludeSize]byte
	body    []byte // headers, payload and checksum of the last message
}

// next returns the next message. The error is io.EOF between messages, one of the above, or the reader's.
func (f *frameReader) next() (frame, error) {
	if _, err := io.ReadFull(f.r, f.prelude[:]); err != nil {
		return frame{}, cut(err)
	}
	if crc32.ChecksumIEEE(f.prelude[:8]) != binary.BigEndian.Uint32(f.prelude[8:]) {
		return frame{}, errSum
	}
	total, headers := binary.BigEndian.Uint32(f.prelude[:]), binary.BigEndian.Uint32(f.prelude[4:])
	if total < preludeSize+sumSize || total > maxFrame || headers > maxHeaders || headers > total-preludeSize-sumSize {
		return frame{}, errLength
	}
	if err := f.fill(int(total) - preludeSize); err != nil {
		return frame{}, err
	}
	end := len(f.body) - sumSize
	sum := crc32.Update(crc32.ChecksumIEEE(f.prelude[:]), crc32.IEEETable, f.body[:end])
	if sum != binary.BigEndian.Uint32(f.body[end:]) {
		return frame{}, errSum
	}
	out := frame{payload: f.body[headers:end]}
	if !out.headers(f.body[:headers]) {
		return frame{}, errHeader
	}
	return out, nil
}

// fill reads n bytes into the body.
func (f *frameReader) fill(n int) error {
	f.body = f.body[:0]
	for len(f.body) < n {
		have := len(f.body)
		f.body = slices.Grow(f.body, min(n-have, readStep))[:have+min(n-have, readStep)]
		if _, err := io.ReadFull(f.r, f.body[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return cut(err)
		}
	}
	return nil
}

func cut(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// headers reads the headers, each of which is the length of its name (1 byte), the name, the type of its value (1) and the
// value. It reports whether they are well formed.
func (f *frame) headers(data []byte) bool {
	for len(data) > 0 {
		nameSize := int(data[0])
		if nameSize == 0 || len(data) < 1+nameSize+1 {
			return false
		}
		name, kind := data[1:1+nameSize], data[1+nameSize]
		data = data[1+nameSize+1:]
		before, size, ok := valueSize(kind, data)
		if !ok || len(data) < before+size {
			return false
		}
		if kind == stringValue {
			f.header(name, data[before:before+size])
		}
		data = data[before+size:]
	}
	return true
}

func (f *frame) header(name, value []byte) {
	switch string(name) {
	case ":message-type":
		f.message = value
	case ":event-type":
		f.event = value
	case ":exception-type":
		f.exception = value
	case ":error-code":
		f.code = value
	case ":error-message":
		f.text = value
	}
}

const stringValue = 7

// valueSize returns the size of the length prefix of a value of that type, and the size of the value.
func valueSize(kind byte, data []byte) (before, size int, ok bool) {
	switch kind {
	case 0, 1: // true, false
		return 0, 0, true
	case 2: // a byte
		return 0, 1, true
	case 3: // 16 bits
		return 0, 2, true
	case 4: // 32 bits
		return 0, 4, true
	case 5, 8: // 64 bits, a time
		return 0, 8, true
	case 6, stringValue: // bytes
		if len(data) < 2 {
			return 0, 0, false
		}
		return 2, int(binary.BigEndian.Uint16(data)), true
	case 9: // a UUID
		return 0, 16, true
	default:
		return 0, 0, false
	}
}
