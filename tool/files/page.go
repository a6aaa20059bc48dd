package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

// page reads a file to its end and keeps the lines from first to last.
type page struct {
	in          *bufio.Reader
	first, last int    // requested
	coding      string // empty for UTF-8

	out     strings.Builder
	number  [20]byte
	from    int // the first shown line; 0: none
	to      int
	lines   int // of the whole file
	bytes   int64
	cut     int    // shown lines that are incomplete
	invalid int    // invalid bytes in shown lines
	binary  string // media type
	bom     bool
	crlf    bool // of shown lines
	lf      bool
	open    bool // the last line has no newline
	most    int  // bytes of all shown lines
	full    bool // the requested lines exceed most
}

func newPage(in io.Reader, size int64, args readArguments, coding string) *page {
	return &page{
		in: bufio.NewReaderSize(in, int(min(max(size+1, sniff), 64<<10))), coding: coding,
		first: args.Offset, last: args.Offset + cmp.Or(args.Limit, defaultLines) - 1,
	}
}

// read returns the content without its version.
func (p *page) read(ctx context.Context) (looked, error) {
	p.most = tool.Limit(ctx, maxRead)
	if err := p.scan(ctx); err != nil {
		return looked{}, err
	}
	if p.binary != "" && p.bytes > 0 {
		l := notShown(p.binary, p.bytes, nil)
		l.shown.Lines = p.lines
		return l, nil
	}
	return looked{content: textOf(p.text()), shown: Shown{
		First: p.from, Last: p.to, Lines: p.lines, Bytes: p.bytes, Cut: p.cut > 0, Whole: p.bytes == 0,
	}}, nil
}

func (p *page) scan(ctx context.Context) error {
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

// take counts a line of size bytes, of which line is the start, and shows it if it is requested.
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
	crlf := bytes.HasSuffix(line, []byte("\r\n"))
	p.crlf, p.lf = p.crlf || crlf, p.lf || !crlf && bytes.HasSuffix(line, []byte("\n"))
	cut := ""
	if size > maxLine {
		for text = text[:maxLine]; len(text) > 0 && !utf8.Valid(text[max(0, len(text)-4):]) && len(text) > maxLine-4; {
			text = text[:len(text)-1]
		}
		cut = fmt.Sprintf("… [%d more bytes]", size-len(text))
	}
	if p.out.Len()+len(text) > p.most && p.from > 0 {
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
	case p.from == 0:
		return fmt.Sprintf("[the file has %s; line %d is past its end]", tool.Count(p.lines, "line"), p.first)
	}
	notes := []string{fmt.Sprintf("lines %d-%d of %d", p.from, p.to, p.lines)}
	if p.to < p.lines {
		notes = append(notes, fmt.Sprintf("continue with offset %d", p.to+1))
	}
	for _, note := range []struct {
		holds bool
		text  string
	}{
		{p.coding != "", "encoding " + p.coding},
		{p.open && p.to == p.lines, "no newline at the end"},
		{p.bom, "starts with a byte order mark"},
		{p.crlf && !p.lf, "lines end in CRLF"},
		{p.crlf && p.lf, "some lines end in CRLF, others in LF"},
		{p.cut > 0, fmt.Sprintf("%s cut at %d bytes", tool.Count(p.cut, "long line"), maxLine)},
		{p.invalid > 0, fmt.Sprintf("not UTF-8: %d bytes shown as \ufffd", p.invalid)},
	} {
		if note.holds {
			notes = append(notes, note.text)
		}
	}
	return p.out.String() + "[" + strings.Join(notes, "; ") + "]"
}
