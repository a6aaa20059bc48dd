package term

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Cells is how many columns of a terminal a text takes. Escape sequences take none.
func Cells(text string) int {
	n := 0
	for text != "" {
		size, width := next(text)
		n += width
		text = text[size:]
	}
	return n
}

// next returns the bytes and the columns of the first character of a text as people see it, or of an escape sequence.
func next(text string) (size, width int) {
	c := text[0]
	switch {
	case c == 0x1b:
		return escape(text), 0
	case c < 0x20 || c == 0x7f:
		return 1, 0
	case c < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf):
		return 1, 1
	}
	if r, size := utf8.DecodeRuneInString(text); ideograph(r) {
		if len(text) == size || text[size] < utf8.RuneSelf {
			return size, 2
		}
		if after, _ := utf8.DecodeRuneInString(text[size:]); ideograph(after) {
			return size, 2
		}
	}
	cluster, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return max(len(cluster), 1), width
}

// ideograph reports whether a rune is one of the usual ideographs, which never join with each other.
func ideograph(r rune) bool {
	return r >= 0x4e00 && r < 0xa000 || r >= 0x3041 && r < 0x3097 || r >= 0x30a1 && r < 0x30fb
}

// escape returns the length of the escape sequence at the beginning of a text: of colors or of a link.
func escape(text string) int {
	if strings.HasPrefix(text, "\x1b]") {
		if end := strings.Index(text, "\x1b\\"); end > 0 {
			return end + 2
		}
		return len(text)
	}
	if end := strings.IndexByte(text, 'm'); end > 0 {
		return end + 1
	}
	return len(text)
}

// Fit cuts text, which has no control characters, to width columns.
func Fit(text string, width int) string {
	if len(text) <= width {
		return text
	}
	used, cut := 0, 0 // cut: how many bytes fit with an ellipsis
	for i := 0; i < len(text); {
		size, w := next(text[i:])
		if used += w; used > width {
			return text[:cut] + "…"
		}
		i += size
		if used < width {
			cut = i
		}
	}
	return text
}

// Chop breaks a line into lines of at most width columns, anywhere. Colors and links continue on the next line. A character that is wider than
// width becomes an ellipsis.
func Chop(line string, width int) []string {
	if len(line) <= width {
		return []string{line}
	}
	width = max(width, 1)
	var lines []string
	colors, link := "", "" // that are in effect
	begin := ""            // those of the beginning of the line
	start, used := 0, 0
	end := func(at int) {
		text := begin + line[start:at]
		if link != "" {
			text += noLink
		}
		if colors != "" {
			text += noColors
		}
		lines = append(lines, text)
		begin, start, used = colors+link, at, 0
	}
	for i := 0; i < len(line); {
		size, w := next(line[i:])
		switch {
		case line[i] == 0x1b && strings.HasPrefix(line[i:], "\x1b]"):
			if link = line[i : i+size]; link == noLink {
				link = ""
			}
		case line[i] == 0x1b:
			if seq := line[i : i+size]; seq == noColors || seq == "\x1b[m" {
				colors = ""
			} else {
				colors += seq
			}
		case w > width:
			if used > 0 {
				end(i)
			}
			lines = append(lines, "…")
			start = i + size
		case used+w > width:
			end(i)
			used = w
		default:
			used += w
		}
		i += size
	}
	if used > 0 || len(lines) == 0 {
		end(len(line))
	}
	return lines
}

const (
	noColors = "\x1b[0m"
	noLink   = "\x1b]8;;\x1b\\"
)

// Flow breaks a plain line at blanks into lines of at most width columns. It breaks words that are longer. A character that is
// wider than width becomes an ellipsis.
func Flow(line string, width int) []string {
	if len(line) <= width {
		return []string{line}
	}
	width = max(width, 1)
	var lines []string
	start, used := 0, 0 // the line
	after, at := 0, 0   // the place after its last blank, and the columns up to there
	indented := true    // it has only blanks
	for i := 0; i < len(line); {
		size, w := next(line[i:])
		blank := line[i] == ' '
		if w > width {
			if i > start {
				lines = append(lines, line[start:i])
			}
			lines = append(lines, "…")
			i += size
			start, used, after = i, 0, 0
			continue
		}
		if used+w > width && i > start {
			switch {
			case blank:
				lines = append(lines, strings.TrimRight(line[start:i], " "))
				for i < len(line) && line[i] == ' ' {
					i++
				}
				start, used = i, 0
			case after > start:
				lines = append(lines, strings.TrimRight(line[start:after], " "))
				start, used = after, used-at
			default:
				lines = append(lines, line[start:i])
				start, used = i, 0
			}
			after, at, indented = 0, 0, false
			continue
		}
		i += size
		used += w
		if indented = indented && blank; blank && !indented {
			after, at = i, used
		}
	}
	if start < len(line) {
		lines = append(lines, line[start:])
	}
	return lines
}

// Untabbed replaces the tabs of a line by blanks. The tab stops are every so many columns.
func Untabbed(line string, every int) string {
	if strings.IndexByte(line, '\t') < 0 {
		return line
	}
	var b strings.Builder
	used := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := every - used%every
			b.WriteString("        "[:min(n, 8)])
			used += n
		}
		b.WriteString(part)
		used += Cells(part)
	}
	return b.String()
}
