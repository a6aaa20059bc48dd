package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// The limits of a file.
const (
	mostBytes   = 1 << 20
	mostNesting = 64
)

type source struct {
	file   string
	text   []byte
	starts []int // the offsets of its lines
}

// readSource reads a file. The error is an fs.ErrNotExist or an *Error.
func readSource(file string) (*source, error) {
	data, err := readRegular(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists(file):
		return nil, &Error{File: file, Message: "is a symbolic link to a file that does not exist"}
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, &Error{File: file, Message: err.Error()}
	}
	return newSource(file, data), nil
}

// readRegular reads a regular file of limited size. It does not wait for the writer of a pipe.
func readRegular(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, plain(err)
	case info.IsDir():
		return nil, errors.New("is a directory; expected a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	switch {
	case err != nil:
		return nil, plain(err)
	case len(data) > mostBytes:
		return nil, fmt.Errorf("is larger than %d KiB", mostBytes>>10)
	}
	return data, nil
}

// plain returns the error without the path, which the caller reports.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("cannot read the file: %w; check its permissions", p.Err)
		}
		return fmt.Errorf("cannot read the file: %w", p.Err)
	}
	return err
}

func newSource(file string, text []byte) *source {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s := &source{file: file, text: append(text[:len(text):len(text)], '\n'), starts: []int{0}} // a comment may end with the file
	for i, b := range text {
		if b == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// spot is a position in a file. Tenon computes the column only for errors, because a file may be one long line.
type spot struct {
	*source
	offset int
	key    string
}

func (s spot) error(message string) *Error { return s.errorAt(s.offset, s.key, message) }

// line returns the index of the line that contains an offset.
func (s *source) line(offset int) int {
	line, found := slices.BinarySearch(s.starts, offset)
	if !found {
		line--
	}
	return line
}

func (s *source) errorAt(offset int, key, message string) *Error {
	offset = min(max(offset, 0), len(s.text))
	line := s.line(offset)
	column := utf8.RuneCount(s.text[s.starts[line]:offset]) + 1
	return &Error{File: s.file, Line: line + 1, Column: column, Key: key, Message: message}
}

// parse parses the text, which must be an object.
func (s *source) parse() (*hujson.Object, *Error) {
	if i := invalidUTF8(s.text); i >= 0 {
		return nil, s.errorAt(i, "", "the text is not UTF-8; save the file with that encoding")
	}
	if len(bytes.TrimSpace(s.text)) == 0 {
		return nil, s.errorAt(0, "", "the file is empty; write {} for no settings")
	}
	deep, open := scan(s.text)
	if deep >= 0 {
		return nil, s.errorAt(deep, "", fmt.Sprintf("objects and lists are nested more than %d deep", mostNesting))
	}
	v, err := hujson.Parse(s.text)
	if err != nil {
		return nil, s.syntaxError(err, open)
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, s.errorAt(v.StartOffset, "", "expected an object in braces, found "+kindName(&v))
	}
	return object, nil
}

// syntaxError adds a position to an error of the parser, and removes quotations of the text.
func (s *source) syntaxError(err error, open int) *Error {
	line, column, offset := 0, 0, 0
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr == nil && line <= len(s.starts) {
		offset = s.starts[line-1] + column - 1
	}
	message := "the text is not JSON"
	switch inner := errors.Unwrap(err); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset, message = len(s.text)-1, "the file ends where a value is expected"
		if open >= 0 {
			offset, message = open, "the object, list, string or comment that begins here has no end"
		}
	case inner != nil && strings.HasSuffix(inner.Error(), "after top-level value"):
		message = "unexpected text after the end of the object; remove it, or move the closing brace"
	case inner != nil && strings.HasPrefix(inner.Error(), "invalid character"):
		message = inner.Error()
	case inner != nil && strings.HasPrefix(inner.Error(), "invalid literal"):
		message = "expected a value: a string in double quotes on one line, a number, true, false, an object or a list"
	}
	return s.errorAt(offset, "", message)
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1 if there is none.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
}

// scan returns two offsets, or -1: deep is the position where the nesting is too deep for a recursive parser, and open is
// the beginning of the bracket, string or comment that is open at the end of the text. Up to the first error of the parser,
// scan recognizes the same strings and comments as the parser.
func scan(text []byte) (deep, open int) {
	var brackets []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if len(brackets) == mostNesting {
				return i, -1
			}
			brackets = append(brackets, i)
		case '}', ']':
			brackets = brackets[:max(len(brackets)-1, 0)]
		case '"':
			start := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return -1, start
			}
		case '/':
			end := "*/"
			switch {
			case bytes.HasPrefix(text[i:], []byte("//")):
				end = "\n"
			case !bytes.HasPrefix(text[i:], []byte("/*")):
				return -1, -1
			}
			n := bytes.Index(text[i+2:], []byte(end))
			if n < 0 {
				return -1, i
			}
			i += 2 + n + len(end) - 1
		}
	}
	if len(brackets) == 0 {
		return -1, -1
	}
	return -1, brackets[len(brackets)-1]
}

func kindName(v *hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return string(v.Value.(hujson.Literal))
}
