package files

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/tool"
)

// section is the part of a patch about one file.
type section struct {
	kind     string // add, update or delete
	path, to string // to: the target of a move
	line     int    // of the patch
	content  string // of an added file
	hunks    []hunk
}

// hunk is one changed place of a file.
type hunk struct {
	line    int      // of the patch
	anchors []string // lines above it
	near    int      // the approximate line of the file; 0: unknown
	lines   []hunkLine
	end     bool // it ends at the end of the file
}

// hunkLine is an unchanged (' '), removed ('-') or added ('+') line.
type hunkLine struct {
	op   byte
	text string
}

// old returns the lines before the change, new the lines after it.
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

// The lines of a patch. The first patch compiles them.
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

// kinds maps the words of headers to kinds of sections.
var kinds = map[string]string{
	"add": "add", "create": "add", "update": "update", "modify": "update", "delete": "delete", "remove": "delete",
}

type parser struct {
	lines    []string
	at       int // the next line
	first    int // number of the first line, from 1
	sections []section
	notes    []string
}

// parsePatch reads the text of a patch. It accepts deviations from the exact form that have only one possible meaning. The notes
// report them.
func parsePatch(text string) ([]section, []string, error) {
	if len(text) > maxPatch {
		return nil, nil, tool.Codef("tool.too_large", "the patch has %d bytes, more than %d; split it", len(text), maxPatch)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	p := parser{lines: lines, first: 1}
	p.unwrap()
	for p.at < len(p.lines) {
		if err := p.section(); err != nil {
			return nil, nil, err
		}
		if len(p.sections) > maxSections {
			return nil, nil, tool.Codef("tool.too_large", "the patch changes more than %d files; split it", maxSections)
		}
	}
	if len(p.sections) == 0 {
		return nil, nil, tool.Codef("tool.patch", `the patch has no "*** Add File: path", "*** Update File: path" or "*** Delete File: path"`)
	}
	return p.sections, p.notes, nil
}

// unwrap removes the envelope, a code fence or a here-document around the patch.
func (p *parser) unwrap() {
	from := slices.IndexFunc(p.lines, begin().MatchString) + 1
	if first := slices.IndexFunc(p.lines, header().MatchString); from == 0 && first >= 0 {
		p.notes = append(p.notes, `"*** Begin Patch" was missing`)
		from = first
	}
	p.lines, p.first = p.lines[from:], 1+from
	for last, line := range slices.Backward(p.lines) { // an earlier, indented one is a line of a file
		if end().MatchString(line) {
			p.lines = p.lines[:last]
			p.join()
			return
		}
	}
	p.notes = append(p.notes, `"*** End Patch" was missing; is the patch complete?`)
	for n := len(p.lines); n > 0; n-- {
		if line := strings.TrimSpace(p.lines[n-1]); line != "" && line != "```" && line != "EOF" && line != "PATCH" {
			break
		}
		p.lines = p.lines[:n-1]
	}
}

// join turns consecutive patches into one.
func (p *parser) join() {
	for i, line := range p.lines {
		if strings.HasPrefix(line, "*") && (begin().MatchString(line) || end().MatchString(line)) {
			p.lines[i] = ""
		}
	}
}

func (p *parser) number() int { return p.first + p.at - 1 }

func (p *parser) section() error {
	line := strings.TrimRight(p.lines[p.at], " \t")
	p.at++
	m := header().FindStringSubmatch(line)
	switch {
	case m == nil && strings.TrimSpace(line) == "":
		return nil
	case m == nil:
		return tool.Codef("tool.patch", `line %d of the patch is %q, but must be "*** Add File: path", "*** Update File: path" or "*** Delete File: path"`,
			p.number(), clip(line))
	}
	s := section{kind: kinds[strings.ToLower(m[1])], path: pathOf(m[2]), line: p.number()}
	if s.path == "" {
		return tool.Codef("tool.patch", "line %d of the patch names no file", s.line)
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

// pathOf removes quotes around a path.
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
		p.notes = append(p.notes, fmt.Sprintf("the lines of %s did not begin with +", s.path))
	}
	var b strings.Builder
	for i, line := range lines {
		text, ok := strings.CutPrefix(line, "+")
		switch {
		case ok, bare, line == "":
		case i == 0 && strings.HasPrefix(line, "@@"), endFile().MatchString(line), strings.HasPrefix(line, `\ No newline`):
			continue
		default:
			return tool.Codef("tool.patch", "line %d of the patch, %q, belongs to the new file %s and must begin with +", s.line+1+i, clip(line), s.path)
		}
		b.WriteString(text + "\n")
	}
	s.content = b.String()
	return nil
}

// updated reads the hunks of an updated file.
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
	s.hunks = slices.DeleteFunc(s.hunks, func(h hunk) bool { // blank lines only separate sections
		return !slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l != hunkLine{' ', ""} })
	})
	if len(s.hunks) == 0 && s.to == "" {
		return tool.Codef("tool.patch", "line %d of the patch updates %s, but no changes follow; add lines that begin with a space, - or +", s.line, s.path)
	}
	return nil
}

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

// take reads a line of a hunk. A line without a sign is unchanged.
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
