package offline

import (
	"fmt"
	"regexp"
	"strings"
)

// treeDepth is the depth of a tree.
const treeDepth = 3

func readCall(path string, offset, limit int) call {
	return call{"read", []arg{{"path", path, false}, {"offset", offset, true}, {"limit", limit, true}}}
}

func listCall(dir string, depth int) call {
	return call{"list", []arg{{"path", dir, true}, {"depth", depth, true}}}
}

func globCall(pattern, dir string) call {
	return call{"glob", []arg{{"pattern", pattern, false}, {"path", dir, true}}}
}

// grepCall searches for the pattern of in. It quotes a plain text if the tool knows only expressions.
func (p *play) grepCall(in instruction) call {
	known := p.tools["grep"]
	literal := !in.regex && (known == nil || known["literal"])
	if !in.regex && !literal {
		in.pattern = regexp.QuoteMeta(in.pattern)
	}
	return call{"grep", []arg{{"pattern", in.pattern, false}, {"path", in.path, true}, {"include", in.glob, true}, {"literal", literal, true}}}
}

func (p *play) list(dir string, depth int) string {
	r := p.one(listCall(dir, depth))
	if r.failed {
		return failure(r)
	}
	return fenced(r.text)
}

// emptyFile matches the result of reading an empty file.
var emptyFile = lazy(`(?i)^\s*(?:\[?(?:the )?file is empty\]?\.?)?\s*$`)

func (p *play) read(in instruction) string {
	limit := 0
	if in.to > 0 {
		limit = in.to - max(in.from, 1) + 1
	}
	r := p.one(readCall(in.path, in.from, limit))
	switch {
	case r.failed:
		return failure(r)
	case emptyFile().MatchString(r.text):
		return code(in.path) + " is empty."
	}
	return code(in.path) + ":\n\n" + fenced(r.text)
}

func (p *play) find(in instruction) string {
	r := p.one(globCall(in.glob, in.path))
	if r.failed {
		return failure(r)
	}
	found := pathsOf(r.text)
	if len(found.paths) == 0 {
		return "No file matches " + code(in.glob) + "."
	}
	matches := count(found.total, "file matches", "files match")
	if strings.HasSuffix(found.paths[0], "/") {
		matches = count(found.total, "directory matches", "directories match")
	}
	if found.more() {
		matches += " (the first " + count(len(found.paths), "is", "are") + " shown)"
	}
	return matches + " " + code(in.glob) + ":\n\n" + fenced(strings.Join(found.paths, "\n"))
}

func (p *play) search(in instruction) string {
	return p.grepped(in, func(text string, hits []hit, more bool) string {
		return fmt.Sprintf("%s%s in %s:\n\n%s", atLeast(more), count(len(hits), "matching line", "matching lines"),
			count(len(filesOf(hits)), "file", "files"), fenced(text))
	})
}

// grepped returns the report about the matching lines, which report makes if there are any.
func (p *play) grepped(in instruction, report func(text string, hits []hit, more bool) string) string {
	r := p.one(p.grepCall(in))
	if r.failed {
		return failure(r)
	}
	hits, more := hitsOf(r.text)
	if len(hits) == 0 {
		return nothingFound(in) + gapOf(r.text)
	}
	return report(r.text, hits, more)
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

func (p *play) countMatches(in instruction) string {
	expression := in.pattern
	if !in.regex {
		expression = regexp.QuoteMeta(expression)
	}
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return "This is not a regular expression: " + code(in.pattern) + "."
	}
	return p.grepped(in, func(text string, hits []hit, more bool) string {
		times := 0
		for _, h := range hits {
			times += max(1, len(pattern.FindAllStringIndex(h.text, -1)))
		}
		return fmt.Sprintf("%s occurs %s%s, on %s in %s.", code(in.pattern), strings.ToLower(atLeast(more)), count(times, "time", "times"),
			count(len(hits), "line", "lines"), count(len(filesOf(hits)), "file", "files")) + gapOf(text)
	})
}

func (p *play) countFiles(in instruction) string {
	r := p.one(globCall(anywhere(firstOf(in.glob, "*")), in.path))
	if r.failed {
		return failure(r)
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
		return count(found.total, "file matches ", "files match ") + code(in.glob) + where + "."
	}
	return count(found.total, "file", "files") + where + "."
}

// countLines reads the first line of each file: the tool reports the number of lines with it.
func (p *play) countLines(in instruction) string {
	if in.path == "" && in.glob == "" && p.data != "" {
		return fmt.Sprintf("Standard input has %s.", lineCount(p.data))
	}
	files := []string{in.path}
	single := in.glob == "" && isFileLike(in.path)
	if !single {
		r := p.one(globCall(anywhere(firstOf(in.glob, "*")), in.path))
		if r.failed {
			return failure(r)
		}
		found := pathsOf(r.text)
		if files = found.files(); found.more() {
			return fmt.Sprintf("%s are too many to count their lines one by one: name a smaller directory, or let a command do it, such as `run git ls-files | xargs wc -l`.",
				count(found.total, "file", "files"))
		}
	}
	reads := make([]call, len(files))
	for i, name := range files {
		reads[i] = readCall(name, 0, 1)
	}
	lines, counted := 0, 0
	for _, r := range p.ask(reads...) {
		if single && r.failed {
			return failure(r)
		}
		page := pageOf(r.text)
		if n := max(page.total, len(page.lines)); n > 0 && !r.failed {
			lines += n
			counted++
		}
	}
	if single {
		return fmt.Sprintf("%s has %s.", code(in.path), count(lines, "line", "lines"))
	}
	return fmt.Sprintf("%s in %s.", count(lines, "line", "lines"), count(counted, "file", "files"))
}
