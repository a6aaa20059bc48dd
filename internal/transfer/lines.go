package transfer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"unicode/utf8"
)

// maxLine is the longest line, entry or row that is read, in bytes: room for a picture of the size that providers take.
const maxLine = 32 << 20

// line is one line of a file.
type line struct {
	number int
	data   []byte // valid until the next line, without its end; the beginning, when it is too long
	size   int64
}

// tooLong reports whether the line was not read whole.
func (l line) tooLong() bool { return l.size > int64(len(l.data)) }

// openRegular opens a file to read. A pipe or a device, which might never end, is refused.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if now, err := f.Stat(); err != nil || !now.Mode().IsRegular() {
		return nil, 0, errors.Join(fmt.Errorf("%s is no regular file", path), err, f.Close())
	}
	return f, info.Size(), nil
}

// lines yields the lines of r that are not empty. Of a line that is longer than limit only the beginning is kept.
func lines(ctx context.Context, r io.Reader, limit int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		for number := 1; ; number++ {
			if err := ctx.Err(); err != nil {
				yield(line{}, err)
				return
			}
			l := line{number: number}
			buf = buf[:0]
			var err error
			for {
				var part []byte
				part, err = in.ReadSlice('\n')
				l.size += int64(len(part))
				if room := limit - len(buf); room > 0 {
					buf = append(buf, part[:min(len(part), room)]...)
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{number: number}, err)
				return
			}
			l.data = buf
			if !l.tooLong() {
				if number == 1 {
					l.data = bytes.TrimPrefix(l.data, []byte("\xef\xbb\xbf"))
				}
				l.data = bytes.TrimSpace(l.data)
				l.size = int64(len(l.data))
			}
			if l.size > 0 && !yield(l, nil) || err != nil {
				return
			}
			if cap(buf) > 4<<20 { // one large line must not keep its room
				buf = nil
			}
		}
	}
}

// eachLine calls f with every line that is a JSON object, and counts the others as lost. It is an error when there is none.
func (b *builder) eachLine(ctx context.Context, path string, f func(place string, data []byte) error) error {
	file, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	b.size += size
	name, found := shortName(path), false
	var first error
	for l, err := range lines(ctx, file, maxLine) {
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		place := fmt.Sprintf("%s:%d", name, l.number)
		switch {
		case l.tooLong():
			b.losses.add("line that is too long", place, fmt.Sprintf("%d MB: %s", l.size>>20, l.data[:200]))
		case l.data[0] != '{':
			b.losses.add("line that cannot be read", place, string(l.data))
			first = cmpError(first, fmt.Errorf("%s:%d: this is no JSON object", path, l.number))
		default:
			if !utf8.Valid(l.data) {
				b.losses.add("bytes that are no UTF-8 (replaced)", place, string(l.data))
			}
			err := checkValues(l.data)
			if err == nil {
				err = f(place, l.data)
			}
			if bad, ok := errors.AsType[*badLine](err); ok {
				b.losses.add("line that cannot be read", place, bad.Error())
				first = cmpError(first, fmt.Errorf("%s:%d: %w", path, l.number, bad))
				continue
			}
			if err != nil {
				return err
			}
			found = true
		}
	}
	if !found && first == nil {
		first = fmt.Errorf("%s has no line that can be read", path)
	}
	if !found {
		return first
	}
	return nil
}

// maxValues is how many values the JSON of a line, entry or row may have: a short text can be a list of millions.
const maxValues = 200_000

// checkValues returns an error when a JSON text has more values than may be held in memory.
func checkValues(data []byte) error {
	n, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	if n > maxValues {
		return &badLine{fmt.Errorf("it has %d values; at most %d are read", n, maxValues)}
	}
	return nil
}

// badLine says that a line cannot be read. It is counted, and the next one is read.
type badLine struct{ err error }

func (e *badLine) Error() string { return e.err.Error() }
func (e *badLine) Unwrap() error { return e.err }

func cmpError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
