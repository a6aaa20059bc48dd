package offline

import (
	"slices"
	"strings"
)

// The results of tools are texts for a model. These functions read the parts that they recognize and ignore the others.

var (
	// truncated matches a remark that the tool has more than it shows.
	truncated = lazy(`(?i)\b(?:truncated|more (?:than|lines?|results|matches|files|entries)|omitted|left out|not shown|only the first|shown|showing|limit|offset)\b`)
	// ofTotal matches the number of all lines or files in a remark.
	ofTotal = lazy(`(?i)\bof (\d+)\b|\b(\d+) lines\b`)
)

// isRemark reports whether a line is a remark of the tool, such as "[12 more files]".
func isRemark(line string) bool {
	return line == "" || strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
}

// names is a parsed list of files.
type names struct {
	paths []string
	total int // the number of all, including those that the tool left out
}

// pathsOf returns the names in a list with one name on each line.
func pathsOf(text string) (n names) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if isRemark(line) {
			if g := ofTotal().FindStringSubmatch(line); g != nil {
				n.total = max(n.total, number(g[1]+g[2]))
			} else if truncated().MatchString(line) {
				n.total = max(n.total, len(n.paths)+1)
			}
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, " (link)"), " (special file)") // as list marks a name
		n.paths = append(n.paths, strings.TrimPrefix(line, "./"))
	}
	n.total = max(n.total, len(n.paths))
	return n
}

// more reports whether the tool left names out.
func (n names) more() bool { return n.total > len(n.paths) }

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

var flatHit = lazy(`^(?:(.+?):)?(\d+):(.*)$`)

// hitsOf returns the matches in a search result. Each match is a line "path:line:text", or a line "line:text" below the
// name of its file.
func hitsOf(text string) (hits []hit, more bool) {
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if g := flatHit().FindStringSubmatch(line); g != nil && g[1]+file != "" {
			hits = append(hits, hit{strings.TrimPrefix(firstOf(g[1], file), "./"), number(g[2]), g[3]})
		} else if isRemark(strings.TrimSpace(line)) {
			more = more || truncated().MatchString(line)
		} else {
			file = line
		}
	}
	return hits, more
}

// unsearched matches the remark of a search that left files out.
var unsearched = lazy(`(?m)^\[not searched: ([^\n]*)\]\r?$`)

// gapOf returns the end of an answer that relies on a search: the files that the search left out.
func gapOf(text string) string {
	if g := unsearched().FindStringSubmatch(text); g != nil {
		return " Not searched: " + g[1] + "."
	}
	return ""
}

// filesOf returns the names of the files with hits, each once, in their order.
func filesOf(hits []hit) (names []string) {
	for _, h := range hits {
		if !slices.Contains(names, h.path) {
			names = append(names, h.path)
		}
	}
	return names
}

// page is a part of a file.
type page struct {
	first int // number of the first line, from 1
	lines []string
	total int  // lines of the whole file if the tool reports them, otherwise 0
	more  bool // the file has lines after the last one
}

var numberedLine = lazy(`^\s*(\d+)(?:\t|→)(.*)$`)

// pageOf returns the lines in the numbered text of a file.
func pageOf(text string) (p page) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if g := numberedLine().FindStringSubmatch(line); g != nil {
			if n := number(g[1]); len(p.lines) == 0 {
				p.first, p.lines = n, []string{g[2]}
				continue
			} else if n == p.first+len(p.lines) {
				p.lines = append(p.lines, g[2])
				continue
			}
		}
		if t := ofTotal().FindStringSubmatch(line); t != nil {
			p.total = max(p.total, number(t[1]+t[2]))
		}
		p.more = p.more || truncated().MatchString(line)
	}
	if p.total > 0 {
		p.more = p.total > p.first+len(p.lines)-1
	}
	return p
}

// text is the content of the page.
func (p page) text() string { return strings.Join(p.lines, "\n") }

// tail returns the shortest end of the page that occurs once in it. The page must be the whole file.
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
