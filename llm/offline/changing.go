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
	r, ok := p.one("", c)
	if !ok || r.failed {
		return false, ok
	}
	paths, _ := pathsOf(r.text)
	return slices.ContainsFunc(paths, func(s string) bool { return path.Clean(s) == path.Clean(name) }), true
}

func (p *play) write(in instruction, did string) (string, bool) {
	r, ok := p.one("", writeCall(in.path, in.content))
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
	if _, ok := p.one("", readCall(in.path, 0, 0)); !ok {
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
	r, ok := p.one("", readCall(in.path, 0, 0))
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
	e, ok := p.one("", editCall(in.path, tail, strings.TrimSuffix(tail, "\n")+"\n"+strings.TrimSuffix(in.content, "\n"), false))
	switch {
	case !ok:
		return "", false
	case e.failed:
		return failure(e), true
	}
	return fmt.Sprintf("Appended %s to %s.", count(lineCount(in.content), "line", "lines"), code(in.path)), true
}

// maxReplaced bounds in how many files one instruction replaces.
const maxReplaced = 100

func (p *play) replace(in instruction) (string, bool) {
	if in.pattern == in.with {
		return "Both texts are the same: there is nothing to replace.", true
	}
	in.regex = false
	r, ok := p.one("", p.grepCall(in))
	if !ok {
		return "", false
	}
	names, more := []string{in.path}, false
	single := in.glob == "" && isFileLike(in.path)
	if !single || !r.missing {
		if r.failed {
			return failure(r), true
		}
		var hits []hit
		hits, more = hitsOf(r.text)
		if names = filesOf(hits); len(names) == 0 {
			return nothingFound(in), true
		}
		if single {
			names = []string{in.path}
		}
	}
	if len(names) > maxReplaced {
		names, more = names[:maxReplaced], true
	}
	return p.replaceIn(names, in, more)
}

func (p *play) replaceIn(names []string, in instruction, more bool) (string, bool) {
	reads := make([]call, len(names))
	for i, name := range names {
		reads[i] = readCall(name, 0, 0)
	}
	if _, ok := p.ask("", reads...); !ok {
		return "", false
	}
	edits := make([]call, len(names))
	for i, name := range names {
		edits[i] = editCall(name, in.pattern, in.with, true)
	}
	results, ok := p.ask("", edits...)
	if !ok {
		return "", false
	}
	var b strings.Builder
	var done []string
	for i, r := range results {
		if r.failed {
			fmt.Fprintf(&b, "%s: %s\n\n", code(names[i]), failure(r))
			continue
		}
		done = append(done, code(names[i]))
	}
	if len(done) > 0 {
		fmt.Fprintf(&b, "Replaced %s with %s in %s.\n\n", code(in.pattern), code(in.with), strings.Join(done, ", "))
	}
	if more {
		b.WriteString("There may be more files: say it again to go on.\n")
	}
	return b.String(), true
}
