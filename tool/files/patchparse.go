package files

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// section is what a patch does with one file.
type section struct {
	kind     string // add, update or delete
	path, to string // to: where it is moved
	line     int    // of the patch
	content  string // of a file that is added
	hunks    []hunk
}

// hunk is one place of a file that changes.
type hunk struct {
	line    int      // of the patch
	anchors []string // lines above it
	near    int      // about the line of the file where it begins; 0: not said
	lines   []hunkLine
	end     bool // it ends where the file does
}

// hunkLine is a line of the file that stays (' '), goes ('-') or comes ('+').
type hunkLine struct {
	op   byte
	text string
}

// old are the lines that are in the file, new those that will be.
func (h *hunk) old() []string { return h.without('+') }
func (h *hunk) new() []string { return h.without('-') }

func (h *hunk) without(op byte) []string {
	var lines []string
	for _, l := range h.lines {
		if l.op != op {
			lines = append(lines, l.text)
		}
	}
	return lines
}

const (
	maxPatch    = 4 << 20 // bytes
	maxSections = 200
)

// The lines of a patch, compiled for the first one.
var (
	header  = lazily(`(?i)^\*\*\*\s*(add|create|update|modify|delete|remove)\s+file\s*:\s*(.*)$`)
	moving  = lazily(`(?i)^\*\*\*\s*(?:move|rename)\s+to\s*:\s*(.*)$`)
	begin   = lazily(`(?i)^\s*\*\*\*\s*begin\s+patch\b`)
	end     = lazily(`(?i)^\s*\*\*\*\s*end\s+patch\b`)
	endFile = lazily(`(?i)^\*\*\*\s*end\s+of\s+file\b`)
	numbers = lazily(`^@@\s*-(\d+)(?:,\d+)?\s+\+\d+(?:,\d+)?\s*@@(.*)$`)
)

func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// kinds are the words of headers.
var kinds = map[string]string{
	"add": "add", "create": "add", "update": "update", "modify": "update", "delete": "delete", "remove": "delete",
}

// parser reads a patch line by line.
type parser struct {
	lines    []string
	at       int // the next line
	first    int // number of the first line, from 1
	sections []section
	notes    []string
}

// parsePatch reads the text of a patch. It takes what models write instead of the exact form where it can mean only one thing;
// the notes say what is worth knowing of that.
func parsePatch(text string) ([]section, []string, error) {
	if len(text) > maxPatch {
		return nil, nil, fmt.Errorf("the patch has %d bytes; at most %d are taken, make several of it", len(text), maxPatch)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	p := parser{lines: lines, first: 1}
	p.unwrap()
	for p.at < len(p.lines) {
		if err := p.section(); err != nil {
			return nil, nil, err
		}
		if len(p.sections) > maxSections {
			return nil, nil, fmt.Errorf("the patch is about more than %d files; make several of it", maxSections)
		}
	}
	if len(p.sections) == 0 {
		return nil, nil, fmt.Errorf(`the patch has no "*** Add File: path", "*** Update File: path" or "*** Delete File: path"`)
	}
	return p.sections, p.notes, nil
}

// unwrap takes away what is around the patch: the envelope, a code fence, a here-document.
func (p *parser) unwrap() {
	from := slices.IndexFunc(p.lines, begin().MatchString) + 1
	if first := slices.IndexFunc(p.lines, header().MatchString); from == 0 && first >= 0 {
		p.notes = append(p.notes, `"*** Begin Patch" was missing`)
		from = first
	}
	p.lines, p.first = p.lines[from:], 1+from
	for last, line := range slices.Backward(p.lines) { // an indented one before it is a line of a file
		if end().MatchString(line) {
			p.lines = p.lines[:last]
			p.join()
			return
		}
	}
	p.notes = append(p.notes, `"*** End Patch" was missing: was this the whole patch?`)
	for n := len(p.lines); n > 0; n-- {
		if line := strings.TrimSpace(p.lines[n-1]); line != "" && line != "```" && line != "EOF" && line != "PATCH" {
			break
		}
		p.lines = p.lines[:n-1]
	}
}

// join makes one patch of several that follow each other.
func (p *parser) join() {
	for i, line := range p.lines {
		if strings.HasPrefix(line, "*") && (begin().MatchString(line) || end().MatchString(line)) {
			p.lines[i] = ""
		}
	}
}

// number is that of the line before the next one.
func (p *parser) number() int { return p.first + p.at - 1 }

func (p *parser) section() error {
	line := strings.TrimRight(p.lines[p.at], " \t")
	p.at++
	m := header().FindStringSubmatch(line)
	switch {
	case m == nil && strings.TrimSpace(line) == "":
		return nil
	case m == nil:
		return fmt.Errorf(`line %d of the patch is %q; "*** Add File: path", "*** Update File: path" or "*** Delete File: path" must stand there`,
			p.number(), clip(line))
	}
	s := section{kind: kinds[strings.ToLower(m[1])], path: pathOf(m[2]), line: p.number()}
	if s.path == "" {
		return fmt.Errorf("line %d of the patch names no file", s.line)
	}
	body := p.at
	for p.at < len(p.lines) && !header().MatchString(p.lines[p.at]) {
		p.at++
	}
	lines := p.lines[body:p.at]
	var err error
	switch s.kind {
	case "add":
		err = p.added(&s, lines)
	case "update":
		err = p.updated(&s, lines, p.first+body)
	}
	p.sections = append(p.sections, s)
	return err
}

// pathOf takes quotes from around a path.
func pathOf(text string) string {
	text = strings.TrimSpace(text)
	for _, q := range []string{"`", "'"} {
		if len(text) > 2 && strings.HasPrefix(text, q) && strings.HasSuffix(text, q) {
			text = text[1 : len(text)-1]
		}
	}
	return text
}

// added reads the content of a new file.
func (p *parser) added(s *section, lines []string) error {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	plus := func(line string) bool { return strings.HasPrefix(line, "+") }
	bare := len(lines) > 0 && !slices.ContainsFunc(lines, plus)
	if bare {
		p.notes = append(p.notes, fmt.Sprintf("the lines of %s had no + before them", s.path))
	}
	var b strings.Builder
	for i, line := range lines {
		text, ok := strings.CutPrefix(line, "+")
		switch {
		case ok, bare, line == "":
		case i == 0 && strings.HasPrefix(line, "@@"), endFile().MatchString(line), strings.HasPrefix(line, `\ No newline`):
			continue
		default:
			return fmt.Errorf("line %d of the patch, %q, belongs to the new file %s and must begin with +", s.line+1+i, clip(line), s.path)
		}
		b.WriteString(text + "\n")
	}
	s.content = b.String()
	return nil
}

// updated reads the hunks of a file that changes.
func (p *parser) updated(s *section, lines []string, first int) error {
	var h *hunk
	begin := func(i int) {
		s.hunks = append(s.hunks, hunk{line: first + i})
		h = &s.hunks[len(s.hunks)-1]
	}
	for i, line := range lines {
		if m := moving().FindStringSubmatch(line); m != nil && h == nil {
			s.to = pathOf(m[1])
			continue
		}
		switch {
		case h == nil && (line == "" || diffHeader(lines[i:]) || i > 0 && diffHeader(lines[i-1:])):
		case strings.HasPrefix(line, "@@"):
			if h == nil || len(h.lines) > 0 || h.end {
				begin(i)
			}
			h.anchor(line)
		case endFile().MatchString(line):
			if h != nil {
				h.end = true
			}
		case strings.HasPrefix(line, `\ No newline`):
		default:
			if h == nil || h.end {
				begin(i)
			}
			h.take(line)
		}
	}
	for i := range s.hunks {
		s.hunks[i].trim()
	}
	s.hunks = slices.DeleteFunc(s.hunks, func(h hunk) bool { return len(h.lines) == 0 })
	if len(s.hunks) == 0 && s.to == "" {
		return fmt.Errorf("line %d of the patch updates %s, but no changes follow; give lines that begin with a space, - or +", s.line, s.path)
	}
	return nil
}

// diffHeader reports whether the lines begin with the names of a unified diff.
func diffHeader(lines []string) bool {
	return len(lines) > 1 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ")
}

// anchor reads a line that begins with @@.
func (h *hunk) anchor(line string) {
	if m := numbers().FindStringSubmatch(line); m != nil {
		h.near, _ = strconv.Atoi(m[1])
		line = m[2]
	}
	line = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(line, "@@"), "@@"))
	if line != "" {
		h.anchors = append(h.anchors, line)
	}
}

// take reads a line of a hunk. One without a sign is one that stays.
func (h *hunk) take(line string) {
	switch {
	case line == "":
		h.lines = append(h.lines, hunkLine{' ', ""})
	case strings.IndexByte(" +-", line[0]) >= 0:
		h.lines = append(h.lines, hunkLine{line[0], line[1:]})
	default:
		h.lines = append(h.lines, hunkLine{' ', line})
	}
}

// trim takes empty lines from the end that only separate the hunk from what follows.
func (h *hunk) trim() {
	n := len(h.lines)
	for n > 0 && h.lines[n-1] == (hunkLine{' ', ""}) {
		n--
	}
	if n == 0 {
		h.lines = nil
	}
}
