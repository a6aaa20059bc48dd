package markdown

import (
	"strings"

	"github.com/tenon-agent/tenon/internal/term"
)

// Styles is the looks of Markdown, as parameters of SGR sequences: "1;36". An empty one paints nothing.
type Styles struct {
	Bold, Italic, Struck, Link, Code, Heading, Rule string

	// Color paints the next line of a block of code. state is 0 for the first line, then the one that it returned. If it is nil, Code
	// paints all lines.
	Color func(language string, state int, line string) (painted string, next int)

	ASCII bool // the terminal shows no other characters
	Links bool // the terminal shows links that a person can open
	Fit   bool // break lines of code and long words too; else a person can copy them

	Indent string // of every line that is not empty; blanks beyond the width
}

// Terminal returns the looks for a stream.
func Terminal(p term.Palette) Styles {
	if !p.On {
		return Styles{}
	}
	return Styles{Bold: "1", Italic: "3", Struck: "9", Link: "4", Code: "36", Heading: "1", Rule: "2"}
}

func (s Styles) glyph(unicode, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return unicode
}

func (s Styles) paint(codes, text string) string {
	if codes == "" || text == "" {
		return text
	}
	return "\x1b[" + codes + "m" + text + "\x1b[0m"
}

func (s Styles) rule(width int) string {
	return s.paint(s.Rule, strings.Repeat(s.glyph("─", "-"), max(width, 0)))
}

// style writes a span.
func (s Styles) style(x span) string {
	var codes []string
	for _, c := range []struct {
		look look
		code string
	}{{heading, s.Heading}, {bold, s.Bold}, {italic, s.Italic}, {link, s.Link}, {struck, s.Struck}, {code, s.Code}} {
		if x.look&c.look != 0 && c.code != "" {
			codes = append(codes, c.code)
		}
	}
	text := s.paint(strings.Join(codes, ";"), x.text)
	if x.to != "" {
		text = "\x1b]8;;" + x.to + "\x1b\\" + text + "\x1b]8;;\x1b\\"
	}
	return text
}

// codeLine draws a line of a block of code.
func (s Styles) codeLine(language string, state int, line string) (string, int) {
	line = term.Harmless(strings.TrimRight(line, "\r\n"))
	if s.Fit {
		line = term.Untabbed(line, 4)
	}
	if s.Color == nil {
		return "  " + s.paint(s.Code, line), 0
	}
	line, state = s.Color(language, state, line)
	return "  " + line, state
}

// fitted breaks lines that are too wide, and indents all.
func (s Styles) fitted(lines []string, width int) []string {
	if !s.Fit {
		return lines
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		line = term.Untabbed(line, 4)
		pieces := []string{line}
		switch {
		case len(line) <= width || term.Cells(line) <= width:
		case strings.IndexByte(line, 0x1b) >= 0:
			pieces = term.Chop(line, width)
		default:
			pieces = term.Flow(line, width)
		}
		for _, piece := range pieces {
			if piece != "" {
				piece = s.Indent + piece
			}
			out = append(out, piece)
		}
	}
	return out
}

// maxURL is the length of the longest link that a person can open.
const maxURL = 2000

// target returns the address of a link for the terminal; empty if the terminal shows none, or if the address is not harmless.
func (s Styles) target(url string) string {
	if !s.Links || len(url) > maxURL {
		return ""
	}
	scheme, _, ok := strings.Cut(url, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "file", "mailto":
	default:
		ok = false
	}
	for i := range len(url) {
		ok = ok && url[i] > 0x20 && url[i] < 0x7f
	}
	if !ok {
		return ""
	}
	return url
}
