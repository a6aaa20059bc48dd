package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxHeader = 4 << 10  // bytes of the lines before a message
	maxFrame  = 32 << 20 // bytes of a message
)

// readFrame reads one message: lines with its length, an empty line, and the bytes. Memory grows with the bytes that arrive, not with the
// length that the lines promise.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, read := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if read += len(line); errors.Is(err, bufio.ErrBufferFull) || read > maxHeader {
			return nil, fmt.Errorf("the lines before a message have more than %d bytes", maxHeader)
		}
		if err != nil {
			if err == io.EOF && read > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("expected a header, got %q", text[:min(len(text), 80)])
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
		if err != nil || n > maxFrame {
			return nil, fmt.Errorf("a message has the length %q; at most %d bytes are allowed", value, maxFrame)
		}
		length = int(n)
	}
	if length < 0 {
		return nil, errors.New("a message has no Content-Length")
	}
	var b bytes.Buffer
	n, err := io.CopyN(&b, r, int64(length))
	if err == io.EOF && n < int64(length) {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// frame returns a message with the lines before it.
func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}
