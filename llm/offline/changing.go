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
	c := call{"edit", []arg{{"path", path, false}, {"old_text", old, false}, {"new_text", with, false}}}
	if all {
		c.args = append(c.args, arg{"replace_all", true, false})
	}
	return c
}

// create writes a file that must not exist yet.
func (p *play) create(in instruction) (string, bool) {
	if in.path == "" {
		return "Which file? Name it, such as in `create notes.txt with \"hello\"`.", true
	}
	exists, ok := p.exists(in.path)
	if !ok {
		return "", false
	}
	if exists {
		return fmt.Sprintf("%s exists already, so I left it as it is. To replace what is in it, say `overwrite %s with …`.",
			code(in.path), brief(in.path)), true
	}
	return p.write(in, "Created")
}

// exists reports whether a file is there, as far as a search for its name can tell.
func (p *play) exists(name string) (exists, ok bool) {
	if strings.ContainsAny(name, globRunes+"]}\\\n") || path.IsAbs(name) || strings.HasPrefix(name, "..") {
		return false, true // the tool itself refuses to overwrite what was not read
	}
	c := globCall(path.Clean(name), "")
	if !p.offers(c) {
		return false, true
	}
	r, ok := p.one(c)
	if !ok || r.failed {
		return false, ok
	}
	return slices.ContainsFunc(pathsOf(r.text).paths, func(s string) bool { return path.Clean(s) == path.Clean(name) }), true
}

func (p *play) write(in instruction, did string) (string, bool) {
	r, ok := p.one(writeCall(in.path, in.content))
	switch {
	case !ok:
		return "", false
	case r.failed:
		return failure(r), true
	}
	return fmt.Sprintf("%s %s with %s.", did, code(in.path), count(lineCount(in.content), "line", "lines")), true
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// overwrite reads the file before it writes it: no content is replaced unseen.
func (p *play) overwrite(in instruction) (string, bool) {
	if in.path == "" {
		return "Which file? Name it, such as in `overwrite notes.txt with \"hello\"`.", true
	}
	exists, ok := p.exists(in.path)
	if !ok {
		return "", false
	}
	if !exists {
		return p.write(in, "Created")
	}
	if _, ok := p.one(readCall(in.path, 0, 0)); !ok {
		return "", false
	}
	return p.write(in, "Replaced")
}

// appendTo puts content after the last line of a file, or creates it.
func (p *play) appendTo(in instruction) (string, bool) {
	exists, ok := p.exists(in.path)
	if !ok {
		return "", false
	}
	if !exists {
		return p.write(in, "Created")
	}
	r, ok := p.one(readCall(in.path, 0, 0))
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	page := pageOf(r.text)
	if len(page.lines) == 0 && !page.more {
		return p.write(in, "Wrote")
	}
	tail, ok := page.tail()
	if !ok {
		return fmt.Sprintf("I cannot append to %s: its end is not told apart from the rest of it by what I can see.", code(in.path)), true
	}
	e, ok := p.one(editCall(in.path, tail, strings.TrimSuffix(tail, "\n")+"\n"+strings.TrimSuffix(in.content, "\n"), false))
	switch {
	case !ok:
		return "", false
	case e.failed:
		return failure(e), true
	}
	return fmt.Sprintf("Appended %s to %s.", count(lineCount(in.content), "line", "lines"), code(in.path)), true
}

// maxRounds bounds how often one instruction searches again because a search did not tell all.
const maxRounds = 10

// replace searches, reads and edits, and searches again while there was more than a search could tell.
func (p *play) replace(in instruction) (string, bool) {
	if in.pattern == in.with {
		return "Both texts are the same: there is nothing to replace.", true
	}
	var done, problems []string
	seen := make(map[string]bool)
	p.gap = ""
	for range maxRounds {
		found, more, failed, ok := p.holders(in)
		if !ok {
			return "", false
		}
		if failed != "" {
			problems = append(problems, failed)
			break
		}
		found = slices.DeleteFunc(found, func(name string) bool { return seen[name] })
		changed, wrong, ok := p.replaceIn(found, in)
		if !ok {
			return "", false
		}
		for _, name := range found {
			seen[name] = true
		}
		done, problems = append(done, changed...), append(problems, wrong...)
		if !more {
			break
		}
		if len(found) == 0 {
			problems = append(problems, "There may be more places than a search can tell: name a directory to go on there.")
			break
		}
	}
	var b strings.Builder
	if len(done) > 0 {
		fmt.Fprintf(&b, "Replaced %s with %s in %s.\n\n", code(in.pattern), code(in.with), strings.Join(done, ", "))
	}
	b.WriteString(strings.Join(problems, "\n\n"))
	if b.Len() == 0 {
		b.WriteString(nothingFound(in))
	}
	return strings.TrimRight(b.String(), "\n") + p.gap, true
}

// holders returns the files that hold the pattern of in, and whether there may be more of them.
func (p *play) holders(in instruction) (found []string, more bool, failed string, ok bool) {
	in.regex = false
	c := p.grepCall(in)
	single := in.glob == "" && isFileLike(in.path)
	if single && !p.offers(c) {
		return []string{in.path}, false, "", true
	}
	r, ok := p.one(c)
	if !ok || r.failed {
		return nil, false, failure(r), ok
	}
	p.gap = gapOf(r.text)
	hits, more := hitsOf(r.text)
	found = filesOf(hits)
	if single && len(found) > 0 {
		return []string{in.path}, false, "", true
	}
	return found, more, "", true
}

// replaceIn reads the files and then replaces in each. It returns those that were changed and what went wrong.
func (p *play) replaceIn(files []string, in instruction) (changed, wrong []string, ok bool) {
	reads := make([]call, len(files))
	edits := make([]call, len(files))
	for i, name := range files {
		reads[i] = readCall(name, 0, 0)
		edits[i] = editCall(name, in.pattern, in.with, true)
	}
	if _, ok := p.ask(reads...); !ok {
		return nil, nil, false
	}
	results, ok := p.ask(edits...)
	if !ok {
		return nil, nil, false
	}
	for i, r := range results {
		if r.failed {
			wrong = append(wrong, code(files[i])+": "+failure(r))
			continue
		}
		changed = append(changed, code(files[i]))
	}
	return changed, wrong, true
}
