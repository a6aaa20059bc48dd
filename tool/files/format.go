package files

import "strings"

const bom = "\ufeff"

// format is what an editor keeps of a text without showing it.
type format struct {
	bom  bool
	crlf bool // every line ends so
}

func parseFormat(text string) format {
	n := strings.Count(text, "\r\n")
	return format{
		bom:  strings.HasPrefix(text, bom),
		crlf: n > 0 && n == strings.Count(text, "\n"),
	}
}

// strip takes the format from a text, apply puts it back.
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

// likeBefore gives new content the byte order mark and the line ends of what it replaces: they are not visible to a model.
func likeBefore(content, before string) (string, []string) {
	var notes []string
	f := parseFormat(before)
	if f.bom && !strings.HasPrefix(content, bom) {
		content = bom + content
		notes = append(notes, "the byte order mark of the file was kept")
	}
	if f.crlf && !strings.Contains(content, "\r") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
		notes = append(notes, "the CRLF line ends of the file were kept")
	}
	return content, notes
}
