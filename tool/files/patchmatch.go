package files

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// loosely lists the ways to compare the lines of a hunk with lines of the file, the strictest first.
var loosely = []struct {
	name string
	norm func(string) string
}{
	{"", func(line string) string { return line }},
	{"trailing white space", func(line string) string { return strings.TrimRight(line, " \t\r") }},
	{"indentation", strings.TrimSpace},
	{"white space and Unicode punctuation", squeeze},
}

// patched is a text while hunks are applied to it.
type patched struct {
	lines  []string   // of the original text, without line endings
	normed [][]string // the same for each way to compare, made on demand
	done   []placed
	cursor int  // after the last hunk
	loose  bool // a hunk does not fit exactly and only once
	notes  []string
}

type placed struct {
	from, to int // lines of the original text
	new      []string
	note     string // if it fits only inexactly
}

// applyHunks returns a text with all hunks applied. It looks for each hunk in the original text. exact reports that each fits exactly, apart
// from the line endings, and only once. The error lists every hunk that fits nowhere, or in several places.
func applyHunks(content string, hunks []hunk) (after string, exact bool, notes []string, err error) {
	f := parseFormat(content)
	text := f.strip(content)
	open := text != "" && !strings.HasSuffix(text, "\n")
	if open {
		text += "\n"
	}
	p := patched{lines: strings.Split(text, "\n"), normed: make([][]string, len(loosely))}
	p.lines = p.lines[:len(p.lines)-1]
	var problems []error
	for i := range hunks {
		if err := p.place(&hunks[i], i+1); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return "", false, nil, errors.Join(problems...)
	}
	text = p.text()
	if open {
		text = strings.TrimSuffix(text, "\n")
	}
	return f.apply(text), !p.loose, p.notes, nil
}

func (p *patched) text() string {
	slices.SortStableFunc(p.done, func(a, b placed) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var b strings.Builder
	at, shift := 0, 0
	for _, d := range append(p.done, placed{from: len(p.lines), to: len(p.lines)}) {
		if d.note != "" {
			p.notes = append(p.notes, d.note+made(d.new, d.from+shift+1, len(d.new)))
		}
		shift += len(d.new) - (d.to - d.from)
		for _, line := range p.lines[at:d.from] {
			b.WriteString(line + "\n")
		}
		for _, line := range d.new {
			b.WriteString(line + "\n")
		}
		at = d.to
	}
	return b.String()
}

func (p *patched) norm(level int) []string {
	if p.normed[level] == nil {
		p.normed[level] = make([]string, len(p.lines))
		for i, line := range p.lines {
			p.normed[level][i] = loosely[level].norm(line)
		}
	}
	return p.normed[level]
}

// place finds the one place of a hunk.
func (p *patched) place(h *hunk, number int) error {
	name := fmt.Sprintf("hunk %d (line %d of the patch)", number, h.line)
	start, anchored := p.anchor(h)
	if len(h.anchors) > 0 && !anchored {
		p.notes = append(p.notes, fmt.Sprintf("%s: no line matches %q after @@", name, clip(h.anchors[len(h.anchors)-1])))
	}
	if len(h.old()) == 0 {
		return p.insert(h, name, start, anchored)
	}
	for _, lines := range [][]hunkLine{h.lines, trimBlank(h.lines)} {
		one := hunk{lines: lines, near: h.near, end: h.end}
		for level := range loosely {
			found := p.find(one.old(), level, h.end)
			if len(found) == 0 {
				continue
			}
			at, note, err := choose(found, h.near, start, anchored)
			if err != nil {
				return fmt.Errorf("%s %w", name, err)
			}
			p.loose = p.loose || level > 0 || len(found) > 1 || len(lines) < len(h.lines)
			p.put(&one, at, level)
			applied := fmt.Sprintf("%s was applied at line %d: ", name, at+1)
			switch {
			case level > 0:
				p.done[len(p.done)-1].note = applied + strings.TrimPrefix(note+"; it fits only without regard to "+loosely[level].name, "; ")
			case note != "":
				p.notes = append(p.notes, applied+note)
			}
			return nil
		}
	}
	return p.nowhere(h, name)
}

// trimBlank removes blank unchanged lines from both ends of a hunk. Some models add them.
func trimBlank(lines []hunkLine) []hunkLine {
	blank := func(l hunkLine) bool { return l.op == ' ' && strings.TrimSpace(l.text) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// anchor is the line at which the search for a hunk begins: the line that its @@ names, or the end of the previous hunk.
func (p *patched) anchor(h *hunk) (start int, found bool) {
	start = p.cursor
	for i, want := range h.anchors {
		at := p.seek(want, start)
		if at < 0 && i == 0 {
			at = p.seek(want, 0)
		}
		if at < 0 {
			return start, false
		}
		start, found = at, true
		if i < len(h.anchors)-1 {
			start++
		}
	}
	return start, found
}

// seek finds the first line that equals a text, begins with it, or contains it.
func (p *patched) seek(want string, from int) int {
	want = squeeze(want)
	lines := p.norm(len(loosely) - 1)
	for _, fits := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.HasPrefix, strings.Contains} {
		for i := from; i < len(lines); i++ {
			if fits(lines[i], want) {
				return i
			}
		}
	}
	return -1
}

// find lists the places of lines that no other hunk uses.
func (p *patched) find(old []string, level int, end bool) (found []int) {
	want := make([]string, len(old))
	for i, line := range old {
		want[i] = loosely[level].norm(line)
	}
	if len(want) == 0 || level > 1 && strings.Join(want, "") == "" {
		return nil // white space alone is everywhere
	}
	have := p.norm(level)
	from := 0
	if end {
		from = max(0, len(have)-len(want))
	}
	for i := from; i+len(want) <= len(have); i++ {
		if equal(have[i:i+len(want)], want) && !p.taken(i, i+len(want)) {
			found = append(found, i)
		}
	}
	return found
}

func (p *patched) taken(from, to int) bool {
	return slices.ContainsFunc(p.done, func(d placed) bool { return from < d.to && d.from < to })
}

// choose returns the intended place: the only one, the one nearest to the line number of @@, the first after the line that @@ quotes,
// or the only one after the previous hunk.
func choose(found []int, near, start int, anchored bool) (at int, note string, err error) {
	i, _ := slices.BinarySearch(found, start)
	after := found[i:]
	switch {
	case len(found) == 1:
		return found[0], "", nil
	case anchored && len(after) == 1, !anchored && near == 0 && len(after) == 1:
		return after[0], "", nil
	case anchored && len(after) > 1:
		return after[0], fmt.Sprintf("the first place after its @@ line; it also fits at lines %s", numbersOf(after[1:])), nil
	case near > 0:
		nearest := slices.MinFunc(found, func(a, b int) int { return cmp.Compare(distance(a, near-1), distance(b, near-1)) })
		return nearest, fmt.Sprintf("the place nearest to line %d; it fits at lines %s", near, numbersOf(found)), nil
	}
	return 0, "", tool.Codef("tool.ambiguous", "fits in %d places, at lines %s; include more of the lines around it, or quote a line above it after @@", len(found), numbersOf(found))
}

func distance(a, b int) int { return max(a-b, b-a) }

func numbersOf(found []int) string {
	var at []string
	for _, i := range found[:min(len(found), maxPlaces)] {
		at = append(at, fmt.Sprint(i+1))
	}
	if len(found) > maxPlaces {
		at = append(at, "and more")
	}
	return strings.Join(at, ", ")
}

// put applies a hunk at a place. Unchanged lines stay as they are in the file.
func (p *patched) put(h *hunk, at, level int) {
	old := h.old()
	here := p.lines[at : at+len(old)]
	d := placed{from: at, to: at + len(old)}
	i := 0
	for _, l := range h.lines {
		switch l.op {
		case ' ':
			d.new = append(d.new, here[i])
			i++
		case '-':
			i++
		default:
			if level > 1 {
				l.text = indentLike(here, old, l.text)
			}
			d.new = append(d.new, l.text)
		}
	}
	p.done = append(p.done, d)
	p.cursor = d.to
}

// insert places a hunk that only adds lines: after its anchor, at its line number, or at the end.
func (p *patched) insert(h *hunk, name string, start int, anchored bool) error {
	at := len(p.lines)
	switch {
	case h.end:
	case anchored:
		at = start + 1
	case h.near > 0:
		at = min(h.near, len(p.lines))
	case len(h.anchors) > 0:
		return tool.Codef("tool.no_match", "%s only adds lines, and the line after its @@ is not in the file; include a line that is in the file", name)
	default:
		p.notes = append(p.notes, name+" has no line of the file; its lines were added at the end")
	}
	if p.taken(at, at) {
		return tool.Codef("tool.ambiguous", "%s adds lines between those that an earlier hunk changes; join the two hunks", name)
	}
	p.loose = true
	p.done = append(p.done, placed{from: at, to: at, new: h.new()})
	p.cursor = max(p.cursor, at)
	return nil
}

// nowhere is the error for a hunk that fits nowhere.
func (p *patched) nowhere(h *hunk, name string) error {
	lines := make([]string, len(p.lines))
	for i, line := range p.lines {
		lines[i] = line + "\n"
	}
	old, new := strings.Join(h.old(), "\n")+"\n", ""
	if slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op == '+' }) {
		new = strings.Join(h.new(), "\n") + "\n"
	}
	return notFound(name, strings.Join(lines, ""), old, new)
}
