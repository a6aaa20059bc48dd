package offline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

func (p *play) read(in instruction) (string, bool) {
	if in.path == "" {
		return "Which file? Name it, such as in `read main.go`.", true
	}
	c := readCall(in.path, in.from, 0)
	if in.to > 0 {
		c = readCall(in.path, in.from, in.to-max(in.from, 1)+1)
	}
	r, ok := p.one(c)
	switch {
	case !ok:
		return "", false
	case r.failed:
		return failure(r), true
	case emptyFile.MatchString(r.text):
		return code(in.path) + " is empty.", true
	}
	return code(in.path) + ":\n\n" + fenced("", r.text), true
}

// emptyFile matches what reading an empty file gives.
var emptyFile = lazy.Compile(`(?i)^\s*(?:[\[(]?(?:the )?file is empty[\])]?\.?)?\s*$`)

func readCall(path string, offset, limit int) call {
	c := call{"read", []arg{{"path", path, false}}}
	if offset > 0 {
		c.args = append(c.args, arg{"offset", offset, true})
	}
	if limit > 0 {
		c.args = append(c.args, arg{"limit", limit, true})
	}
	return c
}

func listCall(dir string, depth int) call {
	c := call{tool: "list"}
	if dir != "" {
		c.args = append(c.args, arg{"path", dir, false})
	}
	if depth > 0 {
		c.args = append(c.args, arg{"depth", depth, true})
	}
	return c
}

func globCall(pattern, dir string) call {
	c := call{"glob", []arg{{"pattern", pattern, false}}}
	if dir != "" {
		c.args = append(c.args, arg{"path", dir, true})
	}
	return c
}

// grepCall searches for the pattern of in. Plain text is quoted when the tool knows only expressions.
func (p *play) grepCall(in instruction) call {
	c := call{"grep", []arg{{"pattern", in.pattern, false}}}
	if in.path != "" {
		c.args = append(c.args, arg{"path", in.path, true})
	}
	if in.glob != "" {
		c.args = append(c.args, arg{"include", in.glob, true})
	}
	if !in.regex {
		if known := p.tools["grep"]; known != nil && !known["literal"] {
			c.args[0].value = regexp.QuoteMeta(in.pattern)
		} else {
			c.args = append(c.args, arg{"literal", true, true})
		}
	}
	return c
}

func (p *play) find(in instruction) (string, bool) {
	r, ok := p.one(globCall(in.glob, in.path))
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	found := pathsOf(r.text)
	if len(found.paths) == 0 {
		return "No file matches " + code(in.glob) + ".", true
	}
	what := count(found.total, "file matches", "files match")
	if strings.HasSuffix(found.paths[0], "/") {
		what = count(found.total, "directory matches", "directories match")
	}
	if found.more {
		what += " (the first " + count(len(found.paths), "is", "are") + " shown)"
	}
	return what + " " + code(in.glob) + ":\n\n" + fenced("", strings.Join(found.paths, "\n")), true
}

func (p *play) search(in instruction) (string, bool) {
	return p.grepped(in, func(text string, hits []hit, more bool) string {
		return fmt.Sprintf("%s%s in %s:\n\n%s", atLeast(more), count(len(hits), "matching line", "matching lines"),
			count(len(filesOf(hits)), "file", "files"), fenced("", text))
	})
}

// grepped is what there is to tell of the lines that fit, once they are known: by tell, unless there are none.
func (p *play) grepped(in instruction, tell func(text string, hits []hit, more bool) string) (string, bool) {
	r, ok := p.one(p.grepCall(in))
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	hits, more := hitsOf(r.text)
	if len(hits) == 0 {
		return nothingFound(in) + gapOf(r.text), true
	}
	return tell(r.text, hits, more), true
}

func nothingFound(in instruction) string {
	where := ""
	if in.path != "" {
		where = " in " + code(in.path)
	} else if in.glob != "" {
		where = " in files named " + code(in.glob)
	}
	return "No line matches " + code(in.pattern) + where + "."
}

func atLeast(more bool) string {
	if more {
		return "At least "
	}
	return ""
}

func (p *play) countMatches(in instruction) (string, bool) {
	return p.grepped(in, func(text string, hits []hit, more bool) string {
		times := 0
		for _, h := range hits {
			times += max(1, occurrences(h.text, in))
		}
		return fmt.Sprintf("%s occurs %s%s, on %s in %s.", code(in.pattern), strings.ToLower(atLeast(more)), count(times, "time", "times"),
			count(len(hits), "line", "lines"), count(len(filesOf(hits)), "file", "files")) + gapOf(text)
	})
}

func occurrences(line string, in instruction) int {
	if !in.regex {
		return strings.Count(line, in.pattern)
	}
	expr, err := regexp.Compile(in.pattern)
	if err != nil {
		return 1
	}
	return len(expr.FindAllStringIndex(line, -1))
}

func (p *play) countFiles(in instruction) (string, bool) {
	pattern := in.glob
	if pattern == "" {
		pattern = "**/*"
	}
	r, ok := p.one(globCall(pattern, in.path))
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	found := pathsOf(r.text)
	if len(found.paths) > 0 && len(found.files()) == 0 {
		found.total = 0 // only directories have such names
	}
	where := ""
	if in.path != "" {
		where = " in " + code(in.path)
	}
	if in.glob != "" {
		return count(found.total, "file matches ", "files match ") + code(in.glob) + where + ".", true
	}
	return count(found.total, "file", "files") + where + ".", true
}

// maxPages bounds how much of a file is read to count its lines.
const maxPages = 40

func (p *play) countLines(in instruction) (string, bool) {
	if in.path == "" && in.glob == "" && p.data != "" {
		return fmt.Sprintf("Standard input has %s.", count(strings.Count(p.data, "\n")+1, "line", "lines")), true
	}
	if in.path == "" || !isFileLike(in.path) || strings.ContainsAny(in.path, globRunes) {
		return p.countAllLines(in)
	}
	last := 0
	for range maxPages {
		r, ok := p.one(readCall(in.path, last+1, 2000))
		if !ok {
			return "", false
		}
		if r.failed && last == 0 {
			return failure(r), true
		}
		page := pageOf(r.text)
		if page.total > 0 {
			last = page.total
			break
		}
		end := page.first + len(page.lines) - 1
		if r.failed || len(page.lines) == 0 || end <= last {
			break
		}
		if last = end; !page.more {
			break
		}
	}
	return fmt.Sprintf("%s has %s.", code(in.path), count(last, "line", "lines")), true
}

// countAllLines adds up the lines of many files, when reading a file tells how many it has.
func (p *play) countAllLines(in instruction) (string, bool) {
	pattern := "**/*"
	if strings.ContainsAny(in.path, globRunes) {
		pattern, in.path = anywhere(in.path), ""
	}
	r, ok := p.one(globCall(pattern, in.path))
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	found := pathsOf(r.text)
	if found.more {
		return fmt.Sprintf("%s are too many to count their lines one by one: name a smaller directory, or let a command do it, such as `run git ls-files | xargs wc -l`.",
			count(found.total, "file", "files")), true
	}
	files := found.files()
	reads := make([]call, len(files))
	for i, name := range files {
		reads[i] = readCall(name, 0, 1)
	}
	results, ok := p.ask(reads...)
	if !ok {
		return "", false
	}
	lines, counted := 0, 0
	for _, r := range results {
		page := pageOf(r.text)
		if n := max(page.total, len(page.lines)); n > 0 && !r.failed {
			lines += n
			counted++
		}
	}
	return fmt.Sprintf("%s in %s.", count(lines, "line", "lines"), count(counted, "file", "files")), true
}
