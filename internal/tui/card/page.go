package card

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/internal/highlight"
	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/diff"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/transcript"
)

// maxLine is the length in bytes of the longest line of a text that a card shows. It cuts longer ones.
const maxLine = 16 << 10

// page is the lines of a card.
type page struct {
	o     *Options
	t     *theme.Theme
	width int
	lines []string
}

// blank adds an empty line.
func (p *page) blank() { p.lines = append(p.lines, "") }

// add adds a styled line. It breaks the line if it is too wide.
func (p *page) add(line string) {
	if term.Cells(line) <= p.width {
		p.lines = append(p.lines, line)
		return
	}
	p.lines = append(p.lines, term.Chop(line, p.width)...)
}

// all adds styled lines with an indent.
func (p *page) all(indent string, lines []string) {
	for _, line := range lines {
		if line != "" {
			line = indent + line
		}
		p.add(line)
	}
}

// time adds the time of an event.
func (p *page) time(at time.Time) {
	if p.o.Times && !at.IsZero() {
		zone := time.Local
		if p.o.Zone != nil {
			zone = p.o.Zone
		}
		p.add("  " + p.t.Faint.Paint(at.In(zone).Format("2006-01-02 15:04:05")))
	}
}

// glyph returns a mark, or a character of ASCII for it.
func (p *page) glyph(mark string) string {
	if !p.t.ASCII {
		return mark
	}
	if ascii, ok := map[string]string{
		"●": "*", "✓": "+", "✗": "x", "⊘": "#", "○": "o", "∴": "~", "✂": "%", "↶": "<", "▪": "-", "·": ".", "─": "-", "☐": "[ ]", "☑": "[x]", "▸": "[>]",
	}[mark]; ok {
		return ascii
	}
	return mark
}

// mark returns a mark for the eye; a screen reader gets none.
func (p *page) mark(glyph string, style theme.Style) string {
	if p.o.Reader {
		return ""
	}
	return style.Paint(p.glyph(glyph)) + " "
}

// short cuts the long lines of a text.
func short(text string) string {
	var b strings.Builder
	at := 0 // the text up to there is in b
	for i := 0; len(text)-i > maxLine; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			n = len(text) - i
		}
		if n > maxLine {
			end := i + maxLine
			for end > i && !utf8.RuneStart(text[end]) {
				end--
			}
			b.WriteString(text[at:end] + "… " + transcript.Bytes(int64(i+n-end)) + " more")
			at = i + n
		}
		i += n + 1
		if i > len(text) {
			break
		}
	}
	return b.String() + text[at:]
}

// flow breaks a plain text into harmless lines.
func flow(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(short(text), "\r\n"), "\n") {
		line = term.Untabbed(term.Harmless(strings.TrimSuffix(line, "\r")), 4)
		lines = append(lines, term.Flow(line, width)...)
	}
	return lines
}

// excerpt adds a plain text with an indent. It cuts the text in the middle to most lines; 0 is no limit. draw draws a line with its indent.
func (p *page) excerpt(indent, text string, most int, draw func(line string) string) {
	head, tail, more := middle(text, p.width-len(indent), most)
	for _, line := range head {
		p.add(draw(line))
	}
	if more > 0 {
		p.add(indent + p.t.Faint.Paint(p.t.Glyph("… ", "... ")+transcript.Count(more, "more line")))
	}
	for _, line := range tail {
		p.add(draw(line))
	}
}

// middle breaks a plain text into lines and cuts them in the middle to most lines; 0 is no limit. It returns the lines before and after the cut,
// and the number between, which counts the lines of the text if there are very many.
func middle(text string, width, most int) (head, tail []string, more int) {
	n := most * 2 / 3
	if all := strings.Count(text, "\n"); most > 0 && all > 2*most {
		first, last := 0, len(text)
		for range n {
			first += strings.IndexByte(text[first:], '\n') + 1
		}
		for range most - n + 1 {
			last = strings.LastIndexByte(text[:last], '\n')
		}
		head, tail, more = flow(text[:first-1], width), flow(text[last+1:], width), all-most
		more += max(len(head)-n, 0) + max(len(tail)-most+n, 0)
		return head[:min(n, len(head))], tail[max(len(tail)-most+n, 0):], more
	}
	lines := flow(text, width)
	if most <= 0 || len(lines) <= most+1 {
		return lines, nil, 0
	}
	return lines[:n], lines[len(lines)-most+n:], len(lines) - most
}

// text adds a plain text with an indent, at most so many lines of it; 0 is no limit.
func (p *page) text(indent string, style theme.Style, text string, most int) {
	lines := flow(text, p.width-len(indent))
	if most > 0 && len(lines) > most {
		lines = append(lines[:most:most], "… "+transcript.Count(len(lines)-most, "more line"))
	}
	for _, line := range lines {
		p.add(indent + style.Paint(line))
	}
}

// cut adds a plain text with an indent. It cuts the text in the middle.
func (p *page) cut(indent string, style theme.Style, text string, most int) {
	if strings.TrimSpace(text) == "" {
		return
	}
	p.excerpt(indent, text, most, func(line string) string { return indent + style.Paint(line) })
}

// hang adds a text after a mark. Its lines have the same indent.
func (p *page) hang(mark string, style theme.Style, who string, textStyle theme.Style, text string, most int) {
	first, indent := style.Paint(mark)+" ", strings.Repeat(" ", term.Cells(mark)+1)
	if p.o.Reader {
		first, indent = "", ""
	}
	who = term.OneLine(who)
	if who != "" {
		who += " "
	}
	begun := false
	p.excerpt(indent, who+text, most, func(line string) string {
		lead := indent
		if !begun {
			begun, lead = true, first
			if rest, ok := strings.CutPrefix(line, who); ok && who != "" {
				return lead + style.Paint(who) + textStyle.Paint(rest)
			}
		}
		if line == "" {
			return ""
		}
		return lead + textStyle.Paint(line)
	})
}

// indent returns the indent of Markdown.
func (p *page) indent() string {
	if p.width < 4 {
		return ""
	}
	return "  "
}

// styles returns the looks of Markdown.
func (p *page) styles() markdown.Styles {
	t := p.t
	return markdown.Styles{
		Bold: string(theme.Bold), Italic: string(theme.Italic), Struck: string(theme.Strike),
		Link: string(t.Link), Code: string(t.Code), Heading: string(t.Heading), Rule: string(t.Faint),
		ASCII: t.ASCII || p.o.Reader, Links: p.o.Links, Fit: true, Indent: p.indent(),
		Color: func(language string, state int, line string) (string, int) {
			spans, next := highlight.Line(language, state, line)
			if len(spans) == 0 && !highlight.Known(language) {
				return t.Code.Paint(line), 0
			}
			return diff.Paint(t, line, spans, nil, ""), next
		},
	}
}

// markdown adds a text in Markdown.
func (p *page) markdown(text string) {
	p.lines = append(p.lines, markdown.Lines(short(text), p.width-len(p.indent()), p.styles())...)
}
