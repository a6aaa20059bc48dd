package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultLines = 2000     // lines of one read
	maxRead      = 50 << 10 // bytes of one read
	maxLine      = 2000     // bytes shown of one line
	maxScan      = 1 << 30  // bytes from which a file is not even counted
	sniff        = 8 << 10  // bytes that tell binary data from text
)

type readArguments struct {
	Path   string `json:"path" min:"1"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, from 1" min:"0"`
	Limit  int    `json:"limit,omitempty" jsonschema:"lines, default 2000" min:"1"`
}

// Shown is the details of a read: which part of a file the model saw.
type Shown struct {
	Path  string `json:"path"`
	First int    `json:"first,omitzero"` // line numbers, from 1; 0 when none was shown
	Last  int    `json:"last,omitzero"`
	Lines int    `json:"lines"` // of the whole file
	Bytes int64  `json:"bytes"`
}

func (s *set) read() tool.Tool {
	return tool.New("read", readText,
		func(_ context.Context, args readArguments) (tool.Effects, error) { return s.reads(args.Path) },
		func(ctx context.Context, args readArguments, _ tool.Report) (tool.Result, error) {
			abs, err := s.ws.Resolve(args.Path) // first, so that what is read is what is remembered under this name
			if err != nil {
				return tool.Result{}, s.unreadable(ctx, args.Path, err)
			}
			f, err := s.ws.OpenFile(abs)
			if err != nil {
				return tool.Result{}, s.unreadable(ctx, args.Path, err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return tool.Result{}, err
			}
			if info.Size() > maxScan {
				return tool.Result{}, fmt.Errorf("%s has %d bytes, too many to read; look for parts with grep, or with head and tail in shell", args.Path, info.Size())
			}
			hash := sha256.New()
			p := page{in: bufio.NewReaderSize(io.TeeReader(f, hash), int(min(max(info.Size()+1, sniff), 64<<10))), first: max(args.Offset, 1)}
			p.last = p.first + cmp.Or(args.Limit, defaultLines) - 1
			if err := p.read(ctx); err != nil {
				return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
			}
			s.saw(abs, version(hash.Sum(nil)))
			result := tool.TextResult(p.text())
			result.Details = p.shown(s.ws.Rel(abs))
			return result, nil
		})
}

func (s *set) unreadable(ctx context.Context, name string, err error) error {
	if _, ok := errors.AsType[*workspace.DirectoryError](err); ok {
		return fmt.Errorf("%w; see what is in it with list", err)
	}
	return s.missing(ctx, name, err)
}

// page reads a file to its end and keeps the lines from first to last.
type page struct {
	in          *bufio.Reader
	first, last int // wanted

	out     strings.Builder
	number  [20]byte
	from    int // shown; 0: none
	to      int
	lines   int // of the whole file
	bytes   int64
	cut     int    // shown lines that were cut
	invalid int    // bytes that are no UTF-8, in shown lines
	binary  string // media type
	bom     bool
	crlf    bool
	open    bool // the last line does not end
	full    bool // there was no room for all lines that were wanted
}

func (p *page) read(ctx context.Context) error {
	start, err := p.in.Peek(sniff)
	if err != nil && err != io.EOF {
		return err
	}
	if tool.Binary(string(start)) {
		p.binary = http.DetectContentType(start)
	}
	var line []byte
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		size := 0
		line = line[:0]
		end := false
		for !end {
			part, err := p.in.ReadSlice('\n')
			size += len(part)
			line = append(line, part[:min(len(part), maxLine+4-len(line))]...)
			switch {
			case err == nil:
				end = true
			case err == io.EOF:
				if size > 0 {
					p.open = true
					p.take(line, size)
				}
				return nil
			case err != bufio.ErrBufferFull:
				return err
			}
		}
		p.take(line, size)
	}
}

// take counts a line of size bytes, of which line is the start, and shows it when it is wanted.
func (p *page) take(line []byte, size int) {
	p.lines++
	p.bytes += int64(size)
	if p.lines == 1 && bytes.HasPrefix(line, []byte("\ufeff")) {
		p.bom = true
		line = line[3:]
		size -= 3
	}
	if p.lines < p.first || p.lines > p.last || p.full || p.binary != "" {
		return
	}
	text, size := trimEnd(line, size)
	p.crlf = p.crlf || bytes.HasSuffix(line, []byte("\r\n"))
	cut := ""
	if size > maxLine {
		for text = text[:maxLine]; len(text) > 0 && !utf8.Valid(text[max(0, len(text)-4):]) && len(text) > maxLine-4; {
			text = text[:len(text)-1]
		}
		cut = fmt.Sprintf("… [%d more bytes]", size-len(text))
	}
	if p.out.Len()+len(text) > maxRead {
		p.full = true
		return
	}
	if p.from == 0 {
		p.from = p.lines
	}
	p.to = p.lines
	if cut != "" {
		p.cut++
	}
	p.out.Write(strconv.AppendInt(p.number[:0], int64(p.lines), 10))
	p.out.WriteByte('\t')
	if utf8.Valid(text) {
		p.out.Write(text)
	} else {
		p.invalid += invalid(text)
		p.out.Write(bytes.ToValidUTF8(text, []byte("\ufffd")))
	}
	p.out.WriteString(cut)
	p.out.WriteByte('\n')
}

// invalid counts the bytes that are no UTF-8.
func invalid(text []byte) (n int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		text = text[size:]
	}
	return n
}

// trimEnd takes the end of a line from it.
func trimEnd(line []byte, size int) ([]byte, int) {
	if len(line) == size {
		text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		return text, len(text)
	}
	return line, size - 1
}

func (p *page) text() string {
	switch {
	case p.bytes == 0:
		return "[the file is empty]"
	case p.binary != "":
		return fmt.Sprintf("[binary file, %s, %d bytes, not shown]", p.binary, p.bytes)
	case p.from == 0:
		return fmt.Sprintf("[the file has %d lines; line %d is beyond its end]", p.lines, p.first)
	}
	notes := []string{fmt.Sprintf("lines %d-%d of %d", p.from, p.to, p.lines)}
	if p.to < p.lines {
		notes = append(notes, fmt.Sprintf("go on with offset %d", p.to+1))
	}
	for _, note := range []struct {
		holds bool
		text  string
	}{
		{p.open && p.to == p.lines, "no line end at the end"},
		{p.bom, "starts with a byte order mark"},
		{p.crlf, "lines end in CRLF"},
		{p.cut > 0, fmt.Sprintf("%d long lines cut at %d bytes", p.cut, maxLine)},
		{p.invalid > 0, fmt.Sprintf("not UTF-8: %d bytes shown as \ufffd", p.invalid)},
	} {
		if note.holds {
			notes = append(notes, note.text)
		}
	}
	return p.out.String() + "[" + strings.Join(notes, "; ") + "]"
}

func (p *page) shown(name string) Shown {
	return Shown{Path: name, First: p.from, Last: p.to, Lines: p.lines, Bytes: p.bytes}
}
