package markdown

import "strings"

// Doc draws a text that grows. It draws each finished block once.
type Doc struct {
	styles Styles
	width  int

	text  string // the text of the last call
	done  int    // bytes of it whose lines are final
	seen  int    // bytes of whole lines that split has seen
	split splitter
	lines []string // that are final
	tight bool     // the block continues a list without an empty line
	item  bool     // the block begins with an item of a list

	open     bool // a block of code is open at done
	language string
	state    int
}

// NewDoc returns a drawing of an empty text.
func NewDoc(s Styles) *Doc { return &Doc{styles: s} }

// Lines draws the text. If it begins with the text of the last call, and the width is the same, finished blocks are not drawn again. The
// caller does not change the lines.
func (d *Doc) Lines(text string, width int) []string {
	if width != d.width || !strings.HasPrefix(text, d.text[:d.seen]) {
		*d = Doc{styles: d.styles, width: width}
	}
	d.text = text
	for {
		n := strings.IndexByte(text[d.seen:], '\n')
		if n < 0 {
			break
		}
		d.line(text[d.seen:d.seen+n], d.seen+n+1)
	}
	rest := text[d.done:]
	switch {
	case strings.TrimSpace(rest) == "" && !d.open:
		return d.lines
	case !d.open:
		return d.with(d.lines[:len(d.lines):len(d.lines)], rest)
	case strings.HasPrefix(d.split.fence, strings.TrimSpace(rest)): // perhaps the end of the code
		return d.lines
	}
	line, _ := d.styles.codeLine(d.language, d.state, rest)
	return append(d.lines[:len(d.lines):len(d.lines)], d.styles.fitted([]string{line}, d.width)...)
}

// line takes a whole line that ends before a place in the text.
func (d *Doc) line(line string, end int) {
	fence := d.split.fence
	starts := d.split.starts(line)
	if opened := fence == "" && d.split.fence != "" && strings.HasPrefix(line, d.split.fence); opened {
		d.block(d.seen)
		info := strings.Fields(strings.TrimLeft(line, "`~"))
		if d.language = ""; len(info) > 0 {
			d.language = info[0]
		}
		if d.open, d.state, d.done = true, 0, end; len(d.lines) > 0 {
			d.lines = append(d.lines, "")
		}
	} else if d.open {
		if d.done = end; d.split.fence == "" {
			d.open = false
		} else {
			line, d.state = d.styles.codeLine(d.language, d.state, line)
			d.lines = append(d.lines, d.styles.fitted([]string{line}, d.width)...)
		}
	} else if starts {
		d.block(d.seen)
	} else if next := d.split.fence == "" && item(line); next && d.item && d.seen-d.done > maxItems {
		tight := !strings.HasSuffix(d.text[:d.seen], "\n\n")
		d.block(d.seen)
		d.tight = tight
	}
	if d.done == d.seen {
		d.item = item(line)
	}
	d.seen = end
}

// maxItems is from how many bytes on the items of a list that still grows are final.
const maxItems = 1000

// block draws the block that ends at a place in the text.
func (d *Doc) block(end int) {
	d.lines = d.with(d.lines, d.text[d.done:end])
	d.done, d.tight = end, false
}

// with adds the lines of a block.
func (d *Doc) with(lines []string, text string) []string {
	if strings.TrimSpace(text) == "" {
		return lines
	}
	if len(lines) > 0 && !d.tight {
		lines = append(lines, "")
	}
	return append(lines, Lines(text, d.width, d.styles)...)
}

// Blocks returns the blocks of fenced code in a text.
func Blocks(text string) (all []string) {
	var split splitter
	var block strings.Builder
	for line := range strings.Lines(text) {
		before := split.fence
		split.starts(strings.TrimRight(line, "\r\n"))
		switch {
		case before != "" && split.fence == "":
			all = append(all, block.String())
			block.Reset()
		case before != "":
			block.WriteString(line)
		}
	}
	if split.fence != "" {
		all = append(all, block.String())
	}
	return all
}
