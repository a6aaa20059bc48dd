// Package overview describes a software project from facts about it: the names of its files, the text of its README and
// manifests, and what else was found. It knows nothing of models and tools, and it reads nothing itself.
package overview

import (
	"path"
	"slices"
	"strings"
)

// Project is what was found out. Every field may be empty.
type Project struct {
	Files       []string       // names relative to the project, with slashes, each once
	Directories []string       // those at the top
	Total       int            // files in all, when that is known
	InDirectory map[string]int // files below a directory at the top, when Files does not hold all of them
	OfLanguage  map[string]int // files of a language, when Files does not hold all of them

	Texts map[string]string // the beginnings of files that were read, by name
	Lines map[string]int    // lines by file, as far as they are known

	Notes     []Note // open TODO and FIXME comments
	MoreNotes bool

	History []string // the last changes, newest first
	Gaps    []string // what could not be found out, each a short sentence
}

// New returns a project of which nothing is known.
func New() *Project {
	return &Project{
		Texts: map[string]string{}, Lines: map[string]int{}, InDirectory: map[string]int{}, OfLanguage: map[string]int{},
	}
}

// Add adds the names that are new. Those that end in a slash are directories.
func (p *Project) Add(names []string) {
	known := make(map[string]bool, len(p.Files)+len(names))
	for _, f := range append(p.Files, p.Directories...) {
		known[f] = true
	}
	add := func(list *[]string, name string) {
		if name != "" && !known[name] {
			known[name] = true
			*list = append(*list, name)
		}
	}
	for _, name := range names {
		top, _, below := strings.Cut(name, "/")
		if below {
			add(&p.Directories, top)
		}
		if !strings.HasSuffix(name, "/") {
			add(&p.Files, name)
		}
	}
}

// Large reports whether there are more files than those whose names are known.
func (p *Project) Large() bool { return p.Total > len(p.Files) }

// Note is a place where somebody left work for later.
type Note struct {
	Path string
	Line int
	Text string
}

// MostManifests bounds how many manifests are worth reading in one project.
const MostManifests = 14

// Reading returns the files that an overview needs the text of, the most telling first: the README, manifests near the top,
// and what a Dockerfile or a workflow says about running the project.
func Reading(files []string) []string {
	var readmes, found []string
	for _, f := range files {
		switch {
		case isReadme(f) && !strings.Contains(f, "/"):
			readmes = append(readmes, f)
		case manifestRank(f) >= 0 && strings.Count(f, "/") <= 2 && !foreign(f):
			found = append(found, f)
		}
	}
	slices.SortStableFunc(readmes, func(a, b string) int { return readmeRank(a) - readmeRank(b) })
	slices.SortStableFunc(found, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		if d := manifestRank(a) - manifestRank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	if len(readmes) > 1 {
		readmes = readmes[:1]
	}
	return slices.Compact(append(readmes, found[:min(len(found), MostManifests)]...))
}

// foreign reports whether a file belongs to somebody else, or is there for tests only.
func foreign(name string) bool {
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch dir {
		case "node_modules", "vendor", "third_party", "thirdparty", "testdata", "fixtures", "__fixtures__", "dist", "target", ".git", ".venv", "venv":
			return true
		}
	}
	return false
}

// own returns the files that belong to the project itself, in order.
func (p *Project) own() []string {
	var own []string
	for _, f := range p.Files {
		if !foreign(f) {
			own = append(own, f)
		}
	}
	slices.Sort(own)
	return slices.Compact(own)
}

func (p *Project) has(name string) bool { return slices.Contains(p.Files, name) }
