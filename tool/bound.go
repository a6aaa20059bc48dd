package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// minBound is the least limit of Bound. A smaller one has no room for the line about the missing part.
const minBound = 128

// Excerpt is a text whose middle may be missing.
type Excerpt struct {
	Head, Tail string // the known parts; if nothing is missing, Tail is empty
	Lines      int64  // missing between them
	Bytes      int64

	File      string // the path of a file with the text; the line about the missing part says how to read that part there
	Kept      int64  // bytes of the text in the file
	From      int64  // bytes of the file before Head
	FromLines int64
	Lost      string // why the file lacks a part of the text, or why there is no file
}

// Bound returns text for a model, of at most limit bytes (at least 128), and the number of bytes that it left out.
//
// It keeps the first 40 % and the last 60 % of a longer text, with a line between them that says how much is missing. It cuts
// between lines if they are short enough, and never within a rune. It replaces invalid UTF-8. Binary data becomes a line with its
// size. Bound does not change a text that it returned.
func Bound(text string, limit int) (cut string, lost int64) {
	return Excerpt{Head: text}.Bound(limit)
}

// Bound is like the function [Bound]. It adds the bytes and lines that were missing before. If there is a File, the least limit has space for
// the call that reads it.
func (e Excerpt) Bound(limit int) (cut string, lost int64) {
	size := int64(len(e.Head)+len(e.Tail)) + e.Bytes
	longest := max(len(e.gap(size, size, size, "")), len(e.gap(0, size, size, "")))
	limit = max(limit, minBound)
	if e.File != "" || e.Lost != "" {
		limit = max(limit, minBound/2+longest)
	}
	if Binary(e.Head) || Binary(e.Tail) {
		return fmt.Sprintf("[binary output, %d bytes, not shown%s]", size, e.where()), size
	}
	head, tail := valid(e.Head), valid(e.Tail)
	if e.Bytes == 0 && len(head)+len(tail) <= limit {
		return head + tail, 0
	}
	room := limit - longest
	first, last := room*2/5, room-room*2/5
	if e.Bytes == 0 {
		head, tail = head+tail, head+tail
	}
	// A side that needs less leaves the rest to the other. The two must not meet: the gap would be empty.
	if e.Bytes > 0 {
		first, last = max(first, room-len(tail)), max(last, room-len(head))
	}
	_, end := Part(head, 0, first)
	before, after := head[:end], tailOf(tail, last)
	lost, lines := e.Bytes, e.Lines
	if e.Bytes == 0 {
		missing := head[len(before) : len(head)-len(after)]
		lost, lines = int64(len(missing)), int64(strings.Count(missing, "\n"))
	} else {
		lost += int64(len(head) - len(before) + len(tail) - len(after))
		lines += int64(strings.Count(head[len(before):], "\n") + strings.Count(tail[:len(tail)-len(after)], "\n"))
	}
	line := e.gap(lines, lost, size, before)
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + line + after, lost
}

// gap is the line about the missing part of a text with this size: how much is missing, and how to read it.
func (e Excerpt) gap(lines, bytes, size int64, before string) string {
	text := fmt.Sprintf("[... %d lines, %d bytes left out", lines, bytes)
	from, end := e.From+int64(len(before)), e.From+size
	switch {
	case e.Kept > from && bytes > (lines+1)*longLine:
		text += fmt.Sprintf("; in long lines. Read them: shell %s", callText(struct {
			Command string `json:"command"`
		}{fmt.Sprintf("tail -c +%d '%s' | head -c 20000", from+1, strings.ReplaceAll(e.File, "'", `'\''`))}))
	case e.Kept > from:
		text += fmt.Sprintf(". Read them: read %s", callText(struct {
			Path   string `json:"path"`
			Offset int64  `json:"offset"`
		}{e.File, e.FromLines + int64(strings.Count(before, "\n")) + 1}))
	case e.File != "" || e.Lost != "":
		return text + ". They are not kept: " + cmp.Or(e.Lost, "there is too much") + " ...]\n"
	}
	if e.File != "" && e.Kept < end {
		text += fmt.Sprintf("; the file has only the first %d of %d bytes: %s", e.Kept, end, cmp.Or(e.Lost, "there is too much"))
	}
	return text + " ...]\n"
}

// longLine is the number of bytes from which the tool read does not show a whole line.
const longLine = 2000

// where says which part of a text that is not shown is in a file.
func (e Excerpt) where() string {
	switch {
	case e.File != "":
		return fmt.Sprintf("; %d bytes are in %s", e.Kept, e.File)
	case e.Lost != "":
		return "; it is not kept: " + e.Lost
	}
	return ""
}

// callText is the JSON of arguments in a text for a model.
func callText(arguments any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(arguments) // texts and numbers have a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

type limitKey struct{}

// WithLimit sets the number of bytes of text that the result of a call may have for the model.
func WithLimit(ctx context.Context, bytes int) context.Context {
	return context.WithValue(ctx, limitKey{}, bytes)
}

// Limit returns the number of bytes of text that a tool should return to the running call: most, or less if the context window is short of space.
// A tool that returns more loses the middle of its text.
func Limit(ctx context.Context, most int) int {
	if n, ok := ctx.Value(limitKey{}).(int); ok {
		return min(n, most)
	}
	return most
}

// Binary reports whether data is not text: it has a NUL, or a third of its start is neither UTF-8 nor printable.
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

// control reports whether a rune is a control character that texts do not use. Colored texts use escape.
func control(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) }

// valid replaces invalid UTF-8 and control characters, so that no part of the result looks binary.
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

// tailOf returns the last n bytes of text or less, from the start of a line unless that halves it, and never from within a rune.
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
