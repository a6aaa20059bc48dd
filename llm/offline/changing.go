package offline

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

func writeCall(path, content string) call {
	return call{"write", []arg{{"path", path, false}, {"content", content, false}}}
}

func editCall(path, old, with string, all bool) call {
	return call{"edit", []arg{{"path", path, false}, {"old_text", old, false}, {"new_text", with, false}, {"replace_all", all, true}}}
}

// create writes a file. It replaces an existing file only for overwrite, and reads that file first.
func (p *play) create(in instruction) string {
	switch exists := p.exists(in.path); {
	case !exists:
		return p.write(in, "Created")
	case in.verb == create:
		return fmt.Sprintf("%s exists already, so I left it unchanged. To replace its content, say `overwrite %s with …`.",
			code(in.path), brief(in.path))
	}
	p.one(readCall(in.path, 0, 0))
	return p.write(in, "Replaced")
}

// exists reports whether a search for its name finds a file. If it cannot, the write tool refuses to overwrite a file that
// the session has not read.
func (p *play) exists(name string) bool {
	c := globCall(path.Clean(name), "")
	if strings.ContainsAny(name, globRunes+"]}\\\n") || path.IsAbs(name) || strings.HasPrefix(name, "..") || !p.offers(c) {
		return false
	}
	r := p.one(c)
	return !r.failed && slices.ContainsFunc(pathsOf(r.text).paths, func(s string) bool { return path.Clean(s) == path.Clean(name) })
}

func (p *play) write(in instruction, did string) string {
	if r := p.one(writeCall(in.path, in.content)); r.failed {
		return failure(r)
	}
	return fmt.Sprintf("%s %s with %s.", did, code(in.path), lineCount(in.content))
}

// appendTo puts content after the last line of a file, or creates the file.
func (p *play) appendTo(in instruction) string {
	if !p.exists(in.path) {
		return p.write(in, "Created")
	}
	r := p.one(readCall(in.path, 0, 0))
	if r.failed {
		return failure(r)
	}
	page := pageOf(r.text)
	if len(page.lines) == 0 && !page.more {
		return p.write(in, "Wrote")
	}
	tail, ok := page.tail()
	if !ok {
		return fmt.Sprintf("I cannot append to %s: its last lines are not unique in it.", code(in.path))
	}
	if r := p.one(editCall(in.path, tail, tail+"\n"+strings.TrimSuffix(in.content, "\n"), false)); r.failed {
		return failure(r)
	}
	return fmt.Sprintf("Appended %s to %s.", lineCount(in.content), code(in.path))
}

// replace searches, reads the files that match, and edits each.
func (p *play) replace(in instruction) string {
	if in.pattern == in.with {
		return "Both texts are the same: there is nothing to replace."
	}
	r := p.one(p.grepCall(in))
	if r.failed {
		return failure(r)
	}
	hits, more := hitsOf(r.text)
	files := filesOf(hits)
	if len(files) == 0 {
		return nothingFound(in) + gapOf(r.text)
	}
	if in.glob == "" && isFileLike(in.path) {
		files = []string{in.path} // the search may name it by another path
	}
	reads, edits := make([]call, len(files)), make([]call, len(files))
	for i, name := range files {
		reads[i], edits[i] = readCall(name, 0, 0), editCall(name, in.pattern, in.with, true)
	}
	p.ask(reads...)
	var changed, problems []string
	for i, r := range p.ask(edits...) {
		if r.failed {
			problems = append(problems, code(files[i])+": "+failure(r))
			continue
		}
		changed = append(changed, code(files[i]))
	}
	if len(changed) > 0 {
		problems = slices.Insert(problems, 0, fmt.Sprintf("Replaced %s with %s in %s.", code(in.pattern), code(in.with), strings.Join(changed, ", ")))
	}
	if more {
		problems = append(problems, "There may be more matches than one search can show: say it again.")
	}
	return strings.Join(problems, "\n\n") + gapOf(r.text)
}
