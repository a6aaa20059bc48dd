package files

import "strings"

const bom = "\ufeff"

// format is the invisible form of a text, which an edit keeps.
type format struct {
	bom  bool
	crlf bool // every line ends in CRLF
}

func parseFormat(text string) format {
	n := strings.Count(text, "\r\n")
	return format{
		bom:  strings.HasPrefix(text, bom),
		crlf: n > 0 && n == strings.Count(text, "\n"),
	}
}

// strip removes the format from a text, apply restores it.
func (f format) strip(text string) string {
	if f.bom {
		text = strings.TrimPrefix(text, bom)
	}
	if f.crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text
}

func (f format) apply(text string) string {
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if f.bom {
		text = bom + text
	}
	return text
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
