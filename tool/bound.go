package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// minBound is the least limit that Bound keeps to: below it there is no room to say what is missing.
const minBound = 128

// Excerpt is a text of which the middle may be missing already.
type Excerpt struct {
	Head, Tail string // what is there; Tail is empty when nothing is missing
	Lines      int64  // missing between them
	Bytes      int64
}

// Bound returns text for a model, of at most limit bytes (at least 128), and how many bytes it left out.
//
// Of a longer text it keeps the first 40 % and the last 60 %, in whole lines where lines are short enough and in whole runes
// always, with a line between them that says how much is missing. Invalid UTF-8 is replaced. Of binary data only the size is
// told. Text that was bound stays as it is.
func Bound(text string, limit int) (cut string, lost int64) {
	return Excerpt{Head: text}.Bound(limit)
}

// Bound is like the function [Bound]; what it says to be missing includes what was missing before.
func (e Excerpt) Bound(limit int) (cut string, lost int64) {
	limit = max(limit, minBound)
	size := int64(len(e.Head)+len(e.Tail)) + e.Bytes
	if Binary(e.Head) || Binary(e.Tail) {
		return fmt.Sprintf("[binary output, %d bytes, not shown]", size), size
	}
	head, tail := valid(e.Head), valid(e.Tail)
	if e.Bytes == 0 && len(head)+len(tail) <= limit {
		return head + tail, 0
	}
	room := limit - len(gap(size, size))
	first, last := room*2/5, room-room*2/5
	if e.Bytes == 0 {
		head, tail = head+tail, head+tail
	}
	// A side that needs less leaves the rest to the other, but the two must not meet: the gap would tell of nothing.
	if e.Bytes > 0 {
		first, last = max(first, room-len(tail)), max(last, room-len(head))
	}
	before, after := headOf(head, first), tailOf(tail, last)
	lost, lines := e.Bytes, e.Lines
	if e.Bytes == 0 {
		missing := head[len(before) : len(head)-len(after)]
		lost, lines = int64(len(missing)), int64(strings.Count(missing, "\n"))
	} else {
		lost += int64(len(head) - len(before) + len(tail) - len(after))
		lines += int64(strings.Count(head[len(before):], "\n") + strings.Count(tail[:len(tail)-len(after)], "\n"))
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + gap(lines, lost) + after, lost
}

func gap(lines, bytes int64) string {
	return fmt.Sprintf("[... %d lines, %d bytes left out ...]\n", lines, bytes)
}

// Binary reports whether the data is not text: it has a NUL, or much of its start is neither UTF-8 nor printable.
func Binary(data string) bool {
	if strings.IndexByte(data, 0) >= 0 {
		return true
	}
	data = data[:min(len(data), 4096)]
	odd, n := 0, 0
	for i, r := range data {
		n++
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(data[i:], "\ufffd"):
			odd++
		case control(r):
			odd++
		}
	}
	return n > 8 && odd*3 > n
}

// control reports whether a rune has no place in a text, be it coloured.
func control(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) }

// valid replaces what is no text, so that no part of the result can look binary.
func valid(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if !strings.ContainsFunc(text, control) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if control(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// headOf is the start of text of at most n bytes: whole lines unless that loses more than half, whole runes always.
func headOf(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if line := strings.LastIndexByte(text[:n], '\n') + 1; line > n/2 {
		n = line
	}
	return text[:n]
}

// tailOf is the end of text of at most n bytes, likewise.
func tailOf(text string, n int) string {
	if len(text) <= n {
		return text
	}
	from := len(text) - max(n, 0)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	if line := strings.IndexByte(text[from:], '\n') + 1; line > 0 && line <= n/2 {
		from += line
	}
	return text[from:]
}
