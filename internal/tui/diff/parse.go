package diff

import (
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/internal/term"
)

// row is a line of one of the files, or of both.
type row struct {
	sign     byte // '+', '-' or ' '; 0: none
	old, now int  // its numbers; 0: it is not in the file
	text     string
	words    []int // the ranges of the changed words as pairs of offsets
}

// kind is the kind of a block.
type kind int

const (
	same    kind = iota // rows in both files
	changed             // removed and added rows
	file                // the beginning of a file
	gap                 // lines between two hunks that the diff omits
	remark              // such as a missing newline
)

// block is rows that belong together.
type block struct {
	kind        kind
	title       string
	old, now    []row
	first, last bool // of a hunk
	further     bool // it is not the first file
}

// parser reads a unified diff block by block.
type parser struct {
	block
	rest             string
	oldLine, nowLine int // the next line numbers
	oldLeft, nowLeft int // lines of the files that the hunk still has
	files            int
	hunks            int  // of the file
	starts           bool // a hunk or a file begins
}

// count returns the number of lines that the parser has not read.
func (p *parser) count() int {
	if p.rest == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(p.rest, "\n"), "\n") + 1
}

func (p *parser) line() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	return strings.TrimSuffix(line, "\r")
}

// inside reports whether the next line belongs to the hunk, and its sign. A text without hunks is one hunk without numbers.
func (p *parser) inside() (sign byte, ok bool) {
	if p.rest == "" {
		return 0, false
	}
	sign = p.rest[0]
	if sign == '\n' || sign == '\t' || sign == '\r' {
		sign = ' ' // an editor removed the blank
	}
	if p.hunks == 0 {
		return sign, (sign == '+' && !strings.HasPrefix(p.rest, "+++ ")) || (sign == '-' && !strings.HasPrefix(p.rest, "--- ")) || sign == ' '
	}
	switch sign {
	case ' ':
		return sign, p.oldLeft > 0 && p.nowLeft > 0
	case '-':
		return sign, p.oldLeft > 0
	case '+':
		return sign, p.nowLeft > 0
	}
	return 0, false
}

// take reads a row of the hunk.
func (p *parser) take(sign byte) row {
	line := p.line()
	r := row{sign: sign}
	if line != "" && (line[0] == sign || sign != ' ') {
		line = line[1:]
	}
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	r.text = term.Untabbed(term.Harmless(line), 4)
	if sign != '+' {
		r.old = p.number(&p.oldLine, &p.oldLeft)
	}
	if sign != '-' {
		r.now = p.number(&p.nowLine, &p.nowLeft)
	}
	return r
}

// number returns the number of a row in a file, and counts it.
func (p *parser) number(next, left *int) (n int) {
	*left--
	if p.hunks > 0 {
		n = *next
		*next++
	}
	return n
}

// maxBlock is the number of rows of the longest block.
const maxBlock = 2000

// next reads the next block.
func (p *parser) next() bool {
	for p.rest != "" {
		p.block = block{}
		sign, ok := p.inside()
		switch {
		case !ok:
			if p.head() {
				return true
			}
		case sign == ' ':
			p.first, p.starts = p.starts, false
			p.now, ok = p.run(' ')
			p.last = !ok
			return true
		default:
			p.kind, p.starts = changed, false
			p.old, _ = p.run('-')
			p.now, _ = p.run('+')
			return true
		}
	}
	return false
}

// run reads rows with one sign. more reports whether rows of the hunk follow.
func (p *parser) run(want byte) (rows []row, more bool) {
	for {
		sign, ok := p.inside()
		if !ok || sign != want || len(rows) == maxBlock {
			return rows, ok
		}
		rows = append(rows, p.take(sign))
	}
}

// head reads a line outside of hunks. It reports whether the line is a block.
func (p *parser) head() bool {
	line := p.line()
	switch {
	case strings.HasPrefix(line, "@@"):
		p.starts = true
		p.hunk(line)
		return p.kind == gap
	case strings.HasPrefix(line, "--- ") && strings.HasPrefix(p.rest, "+++ /dev/null"):
		p.line()
		fallthrough
	case strings.HasPrefix(line, "+++ "):
		p.files++
		p.starts, p.hunks, p.kind, p.title, p.further = true, 0, file, pathOf(line), p.files > 1
		return true
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return false
	}
	p.kind, p.title = remark, strings.TrimPrefix(line, `\ `)
	return true
}

func pathOf(line string) string {
	path, _, _ := strings.Cut(line[4:], "\t")
	if rest, ok := strings.CutPrefix(path, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(path, "b/")
}

// hunk reads "@@ -1,2 +3,4 @@ title".
func (p *parser) hunk(line string) {
	parts := strings.SplitN(line, " ", 5)
	p.hunks++
	if len(parts) >= 3 {
		p.oldLine, p.oldLeft = span(strings.TrimPrefix(parts[1], "-"))
		p.nowLine, p.nowLeft = span(strings.TrimPrefix(parts[2], "+"))
	}
	if p.hunks > 1 {
		if p.kind = gap; len(parts) == 5 {
			p.title = parts[4]
		}
	}
}

// span reads "12,3" or "12". Numbers that are too large are 0.
func span(text string) (from, n int) {
	first, count, ok := strings.Cut(text, ",")
	const most = 1 << 30
	if from, _ = strconv.Atoi(first); from < 0 || from > most {
		from = 0
	}
	if n = 1; ok {
		if n, _ = strconv.Atoi(count); n < 0 || n > most {
			n = 0
		}
	}
	return from, n
}

// digits returns the digits of the largest line number of a diff.
func digits(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "@@ -") {
			continue
		}
		parts := strings.SplitN(line, " ", 4)
		for _, part := range parts[1:min(len(parts), 3)] {
			if part != "" {
				from, n := span(part[1:])
				most = max(most, from+n)
			}
		}
	}
	if most == 0 {
		return 0
	}
	return len(strconv.Itoa(most))
}
