package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// What tools return is text for a model. These functions take out of it what they can recognise and ignore the rest.

// truncated matches what tools say when there is more than they show.
var truncated = lazy.Compile(`(?i)\b(?:truncated|more (?:lines|results|matches|files|entries|follow)|omitted|left out|not shown|continue with|only the first|showing|limit(?:ed)? (?:reached|to)|offset)\b`)

// isRemark reports whether a line is a tool's own, such as "[12 more files]", rather than a name or a match.
func isRemark(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return true
	}
	wrapped := strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") ||
		strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")") ||
		strings.HasPrefix(line, "…") || strings.HasPrefix(line, "...")
	return wrapped || strings.HasSuffix(line, ".") && strings.Contains(line, " ") || strings.HasSuffix(line, ":") && strings.Contains(line, " ")
}

// names is what a list of files tells.
type names struct {
	paths []string
	total int  // how many there are in all
	more  bool // not all are in paths
}

// pathsOf returns the names in a list of one name to a line.
func pathsOf(text string) names {
	var n names
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if isRemark(line) {
			n.more = n.more || truncated.MatchString(line)
			if g := ofTotal.FindStringSubmatch(line); g != nil {
				n.total = max(n.total, number(g[1]+g[2]))
			}
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "- "), "./")
		for _, kind := range []string{" (link)", " (special file)"} { // as list says behind a name
			name = strings.TrimSuffix(name, kind)
		}
		n.paths = append(n.paths, name)
	}
	n.total = max(n.total, len(n.paths))
	n.more = n.more || n.total > len(n.paths)
	return n
}

// files returns the names that are no directories.
func (n names) files() []string {
	return slices.DeleteFunc(slices.Clone(n.paths), func(s string) bool { return strings.HasSuffix(s, "/") })
}

// hit is one matching line.
type hit struct {
	path string
	line int
	text string
}

var (
	flatHit  = lazy.Compile(`^(.+?):(\d+):(?:\d+:)? ?(.*)$`)
	underHit = lazy.Compile(`^\s*(?:[Ll]ine )?(\d+)(?::|\t|\s*[|→])(.*)$`)
)

// hitsOf returns the matches in a result of "path:line:text" lines, or of "line:text" lines below the names of files.
func hitsOf(text string) (hits []hit, more bool) {
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if g := underHit.FindStringSubmatch(line); g != nil && file != "" {
			hits = append(hits, hit{file, number(g[1]), g[2]})
			continue
		}
		if g := flatHit.FindStringSubmatch(line); g != nil {
			hits = append(hits, hit{strings.TrimPrefix(g[1], "./"), number(g[2]), g[3]})
			continue
		}
		bare := strings.TrimSuffix(line, ":")
		switch {
		case isRemark(line) && (bare == line || strings.Contains(line, " ")):
			more = more || truncated.MatchString(line)
		case bare == strings.TrimSpace(bare):
			file = strings.TrimPrefix(bare, "./")
		}
	}
	return hits, more
}

// unsearched matches the remark of a search that it left files out.
var unsearched = lazy.Compile(`(?m)^\[not searched: ([^\n]*)\]\r?$`)

// gapOf says, behind an answer that rests on a search, what the search did not look at.
func gapOf(text string) string {
	if g := unsearched.FindStringSubmatch(text); g != nil {
		return " Not searched: " + g[1] + "."
	}
	return ""
}

// filesOf returns the names of the files with hits, each once, in their order.
func filesOf(hits []hit) []string {
	var names []string
	seen := make(map[string]bool)
	for _, h := range hits {
		if !seen[h.path] {
			seen[h.path] = true
			names = append(names, h.path)
		}
	}
	return names
}

// page is what a reading of a file shows.
type page struct {
	first int // number of the first line, from 1
	lines []string
	total int  // lines of the whole file when the tool said so, else 0
	more  bool // the file goes on after the last line
}

var (
	numberedLine = lazy.Compile(`^\s*(\d+)(?:\t|→|\s?[|│:]\s?| {2})(.*)$`)
	ofTotal      = lazy.Compile(`(?i)\bof (\d+)\b|\b(\d+) lines(?: in all|\b)`)
)

// pageOf takes the lines out of the numbered text that reading a file gives.
func pageOf(text string) page {
	var p page
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		g := numberedLine.FindStringSubmatch(line)
		if g != nil {
			n, err := strconv.Atoi(g[1])
			if err == nil && (len(p.lines) == 0 || n == p.first+len(p.lines)) {
				if len(p.lines) == 0 {
					p.first = n
				}
				p.lines = append(p.lines, strings.TrimSuffix(g[2], "\r"))
				continue
			}
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if t := ofTotal.FindStringSubmatch(line); t != nil {
			p.total = max(p.total, number(t[1]+t[2]))
		}
		p.more = p.more || truncated.MatchString(line)
	}
	if p.total > 0 {
		p.more = p.total > p.first+len(p.lines)-1
	}
	return p
}

// text is the content of the page.
func (p page) text() string { return strings.Join(p.lines, "\n") }

// tail returns the fewest last lines that stand nowhere else in the page, which must be the whole file.
func (p page) tail() (string, bool) {
	if p.more || p.first > 1 {
		return "", false
	}
	all := p.text()
	for i := range slices.Backward(p.lines) {
		tail := strings.Join(p.lines[i:], "\n")
		if strings.TrimSpace(tail) != "" && strings.Count(all, tail) == 1 {
			return tail, true
		}
	}
	return "", false
}
