package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"unicode/utf8"
)

// maxLine bounds a line, entry or row in bytes: enough for an image of the size that providers accept.
const maxLine = 32 << 20

// line is one line of a file.
type line struct {
	number int
	data   []byte // without the line ending, valid until the next line; only the beginning if it is too long
	size   int64
}

// tooLong reports whether data is only the beginning of the line.
func (l line) tooLong() bool { return l.size > int64(len(l.data)) }

// openRegular opens a regular file for reading. It refuses pipes and devices, which might never end.
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

// lines yields the non-empty lines of r. It keeps only the beginning of a line longer than limit.
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
			if cap(buf) > 4<<20 { // do not hold the memory of one large line
				buf = nil
			}
		}
	}
}

// eachLine calls f with every line that is a JSON object and counts the others as lost. A file without any is an error.
func (b *builder) eachLine(ctx context.Context, path string, f func(place string, o object, data []byte) error) error {
	file, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer file.Close() // read-only
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
			first = cmp.Or(first, fmt.Errorf("%s:%d: this is no JSON object", path, l.number))
		default:
			if !utf8.Valid(l.data) {
				b.losses.add("invalid UTF-8 (replaced)", place, string(l.data))
			}
			o, err := objectOf(l.data)
			if err != nil {
				err = &badLine{err}
			} else {
				err = f(place, o, l.data)
			}
			if bad, ok := errors.AsType[*badLine](err); ok {
				b.losses.add("line that cannot be read", place, bad.Error())
				first = cmp.Or(first, fmt.Errorf("%s:%d: %w", path, l.number, bad))
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

// maxValues bounds the JSON values of a line, entry or row: a short text can be a list of millions.
const maxValues = 200_000

// checkValues returns an error if a JSON text has more values than memory should hold.
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
		return fmt.Errorf("it has %d values, and the limit is %d", n, maxValues)
	}
	return nil
}

// badLine marks an unreadable line. The reader counts it and continues.
type badLine struct{ err error }

func (e *badLine) Error() string { return e.err.Error() }
func (e *badLine) Unwrap() error { return e.err }
