package offline

import (
	"path"
	"slices"
	"strings"
)

const mostParts = 24 // that the overview describes

// part is a directory and the file that says what the directory is for.
type part struct {
	dir   string // with a slash at its end
	file  string // the name of the file; empty if no file describes the directory
	about string // one sentence
}

// findParts returns the directories at the top, each followed by the directories in it if no file describes it as a whole.
func (o *overview) findParts() []part {
	describing := map[string]string{}
	inside := map[string][]string{} // directories by their parent
	for _, f := range o.files {
		dir := path.Dir(f) + "/"
		if foreign(f) || strings.HasPrefix(f, ".") || strings.Count(dir, "/") > 2 {
			continue
		}
		if top, _, nested := strings.Cut(strings.TrimSuffix(dir, "/"), "/"); nested && !slices.Contains(inside[top+"/"], dir) {
			inside[top+"/"] = append(inside[top+"/"], dir)
		}
		if old := describing[dir]; rankOf(f) > 0 && (old == "" || rankOf(f) < rankOf(old) || rankOf(f) == rankOf(old) && f < old) {
			describing[dir] = f
		}
	}
	slices.Sort(o.dirs)
	tops := o.dirs[:min(len(o.dirs), mostParts-4)]
	nested := mostParts - len(tops)
	var parts []part
	for _, dir := range tops {
		parts = append(parts, part{dir: dir, file: describing[dir]})
		if describing[dir] != "" {
			continue
		}
		slices.Sort(inside[dir])
		for _, sub := range inside[dir] {
			if describing[sub] != "" && nested > 0 {
				parts = append(parts, part{dir: sub, file: describing[sub]})
				nested--
			}
		}
	}
	return parts
}

// rankOf returns how well a file describes its directory, 1 is the best; 0: not at all.
func rankOf(file string) int {
	name := path.Base(file)
	stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	switch {
	case slices.Contains([]string{"doc.go", "__init__.py", "lib.rs", "mod.rs", "package.json"}, name):
		return 1
	case ext != ".go" && ext != ".py" && ext != ".rs":
	case stem == path.Base(path.Dir(file)):
		return 2
	case stem == "main":
		return 3
	case ext == ".go" && !strings.HasSuffix(stem, "_test"):
		return 4
	}
	return 0
}

// aboutPattern matches the line in which the description of a package, module or crate begins. The text may begin in the next line.
const aboutPattern = `^// (Package|Command) \w|^//! |^[rRuU]?("""|''')|^  ?"description":`

// aboutCall searches the files of parts for their descriptions. One search costs less than a read of each file.
func aboutCall(parts []part) call {
	var files []string
	for _, p := range parts {
		if p.file != "" && !strings.ContainsAny(p.file, `{}[]*?,\`) {
			files = append(files, p.file)
		}
	}
	return call{"grep", []arg{{"pattern", aboutPattern, false}, {"include", "{" + strings.Join(files, ",") + "}", false}, {"after", 2, true}}}
}

var (
	shownLine = lazy(`^(\d+)[:-](.*)$`)
	aboutMark = lazy(`^(?://!?|[rRuU]?(?:"""|''')|\s*"description":)`)
)

// explain takes the descriptions from the result of the search: for each file the first match and the lines after it.
func explain(parts []part, text string) {
	files := strings.Split("\n"+text, "\n")
	for i, p := range parts {
		if at := slices.Index(files, p.file); p.file != "" && at >= 0 {
			parts[i].about = aboutOf(files[at+1:])
		}
	}
}

// aboutOf returns the first sentence of a description. It ends before a line without text, and before a line that is no comment.
func aboutOf(lines []string) string {
	var words []string
	mark, next := "", 0
	for i, line := range lines {
		g := shownLine().FindStringSubmatch(line)
		if g == nil || i > 0 && (number(g[1]) != next || mark[0] == '/' && !strings.HasPrefix(g[2], mark)) {
			break
		}
		text := g[2]
		if next = number(g[1]) + 1; i == 0 {
			mark = strings.TrimLeft(aboutMark().FindString(text), "rRuU ")
			text = strings.TrimLeft(text, "rRuU ")
		}
		if i == 0 || mark[0] == '/' {
			text = strings.TrimPrefix(text, mark)
		}
		text, _, end := strings.Cut(text, firstOf(mark, "\n"))
		words = append(words, strings.Fields(text)...)
		if end || mark == "" || mark[0] == '"' && mark[1] != '"' || strings.TrimSpace(text) == "" && len(words) > 0 {
			break
		}
	}
	sentence, _, more := strings.Cut(strings.Trim(strings.Join(words, " "), `", `), ". ")
	if more {
		sentence += "."
	}
	return shorten(sentence, 160)
}
