package offline

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// readLines is the number of lines that the model reads of a README or a manifest.
const readLines = 300

// historyCommand is the one command that a description runs.
const historyCommand = `git --no-pager log -n 10 --date=short --pretty=format:"%h %ad %an: %s"`

// openNotes matches TODO and FIXME at the beginning of a comment.
const openNotes = `(//|#|/\*|\*|--|;|<!--|%)\s*(TODO|FIXME)\b`

// describe looks at the project in two rounds of calls and writes an overview.
func (p *play) describe() string {
	o := overview{title: firstOf(p.place.name, "This project"), texts: map[string]string{}}
	o.survey(p)
	if len(o.files) > 0 {
		o.study(p)
	}
	return o.write()
}

// survey finds the names of the files. The other calls make sure that the top of the project is known if one call cannot return all names.
func (o *overview) survey(p *play) {
	all, top, below := globCall("**/*", ""), listCall("", 0), globCall("*/*", "")
	if !p.offers(all) && !p.offers(top) {
		o.gap("the files: the tools glob and list are not offered")
	}
	for i, r := range p.ask(all, top, below) {
		switch {
		case !r.failed:
			found := pathsOf(r.text)
			o.add(found.paths)
			if i == 0 {
				o.total = found.total
			}
		case i == 0 && !r.missing:
			o.gap("all files: " + brief(r.text))
		}
	}
}

// study reads the README and the manifests, and looks for open notes and the last commits.
func (o *overview) study(p *play) {
	names := o.reading()
	o.parts = o.findParts()
	calls := make([]call, 0, len(names)+3)
	for _, name := range names {
		calls = append(calls, readCall(name, 0, readLines))
	}
	calls = append(calls, p.grepCall(instruction{pattern: openNotes, regex: true}))
	if !p.place.noGit {
		calls = append(calls, shellCall(historyCommand))
	}
	known := len(calls)
	if slices.ContainsFunc(o.parts, func(p part) bool { return p.file != "" }) {
		calls = append(calls, aboutCall(o.parts))
	}
	results := p.ask(calls...)
	if len(calls) > known && !results[known].failed {
		explain(o.parts, results[known].text)
	}
	if p.place.noGit {
		o.gap("git history: this is no git repository")
	} else {
		o.commits(results[known-1])
	}
	for i, name := range names {
		if r := results[i]; !r.failed {
			o.texts[name] = pageOf(r.text).text()
		} else if i == 0 {
			o.gap(fmt.Sprintf("the content of %s: %s", code(name), brief(r.text)))
		}
	}
	if r := results[len(names)]; r.failed {
		o.gap("open TODOs: " + brief(r.text))
	} else {
		o.notes, o.moreNotes = hitsOf(r.text)
	}
}

var (
	commit       = lazy(`^[0-9a-f]{4,40} \d{4}-\d\d-\d\d .+`)
	noRepository = lazy(`(?i)not a git repository`)
	noCommits    = lazy(`(?i)does not have any commits`)
)

// commits reads the output of historyCommand.
func (o *overview) commits(r result) {
	for line := range strings.Lines(r.text) {
		if line = strings.TrimSpace(line); !r.failed && commit().MatchString(line) {
			o.history = append(o.history, line)
		}
	}
	switch {
	case len(o.history) > 0:
	case noRepository().MatchString(r.text):
		o.gap("git history: this is no git repository")
	case r.missing, denied(r):
		o.gap("git history: needs permission to run commands (`--yes`)")
	case exited(r) && !noCommits().MatchString(r.text):
		o.gap("git history: the command for it failed: " + brief(r.text))
	default:
		o.gap("git history: there are no commits yet")
	}
}

// reading returns the files that the overview reads: the README and the manifests at the top of the project.
func (o *overview) reading() (names []string) {
	for _, f := range o.files {
		if readmeName().MatchString(f) && (len(names) == 0 || strings.EqualFold(path.Ext(f), ".md")) {
			names = []string{f}
		}
	}
	for _, r := range recipes {
		if slices.Contains(o.files, r.manifest) {
			names = append(names, r.manifest)
		}
	}
	return names
}

var readmeName = lazy(`(?i)^readme(?:\.\w+)?$`)
