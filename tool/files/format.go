package files

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const bom = "\ufeff"

// format is the invisible form of a text, which an edit keeps.
type format struct {
	bom   bool
	crlf  bool   // every line ends in CRLF
	mixed string // the text without its byte order mark, if only some lines end in CRLF
}

func parseFormat(text string) format {
	n := strings.Count(text, "\r\n")
	f := format{bom: strings.HasPrefix(text, bom), crlf: n > 0 && n == strings.Count(text, "\n")}
	if n > 0 && !f.crlf {
		f.mixed = strings.TrimPrefix(text, bom)
	}
	return f
}

// strip removes the format from a text, apply restores it.
func (f format) strip(text string) string {
	if f.bom {
		text = strings.TrimPrefix(text, bom)
	}
	if f.crlf || f.mixed != "" {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text
}

func (f format) apply(text string) string {
	switch {
	case f.crlf:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case f.mixed != "":
		text = endLike(f.mixed, text)
	}
	if f.bom {
		text = bom + text
	}
	return text
}

// endLike gives the lines of a text the endings that they have in mixed. A changed line gets that of the line at its place, a further one that of
// the line before it.
func endLike(mixed, text string) string {
	var b strings.Builder
	lines, before := splitLines(mixed), strings.ReplaceAll(mixed, "\r\n", "\n")
	write := func(text string, from, to int) { // in place of these lines
		for i, line := range splitLines(text) {
			like := lines[max(0, min(from+i, to-1))]
			if rest, ok := strings.CutSuffix(line, "\n"); ok && strings.HasSuffix(like, "\r\n") {
				line = rest + "\r\n"
			}
			b.WriteString(line)
		}
	}
	at, line := 0, 0
	for _, edit := range udiff.Lines(before, text) {
		first := line + len(splitLines(before[at:edit.Start]))
		last := first + len(splitLines(before[edit.Start:edit.End]))
		write(before[at:edit.Start], line, first)
		write(edit.New, first, last)
		at, line = edit.End, last
	}
	write(before[at:], line, len(lines))
	return b.String()
}

// likeBefore gives new content the byte order mark and the line endings of the old content, which a model does not see.
func likeBefore(content, before string) (string, []string) {
	var notes []string
	f := parseFormat(before)
	if f.bom && !strings.HasPrefix(content, bom) {
		content = bom + content
		notes = append(notes, "the file keeps its byte order mark")
	}
	if f.crlf && !strings.Contains(content, "\r") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
		notes = append(notes, "the file keeps its CRLF line endings")
	}
	return content, notes
}
