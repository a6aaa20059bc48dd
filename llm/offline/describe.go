package offline

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
	"github.com/tenon-agent/tenon/llm/offline/internal/overview"
)

const (
	mostLines   = 300 // of a README or a manifest that are read
	mostCounted = 60  // files whose lines are counted, one call for each

	mostDirectories = 20 // that are looked into one by one
	mostLanguages   = 6  // whose files are counted one by one
)

// historyCommand is the one command that a description runs.
const historyCommand = `git --no-pager log -n 10 --date=short --pretty=format:"%h %ad %an: %s"`

// openNotes matches notes at the beginning of a comment.
const openNotes = `(//|#|/\*|\*|--|;|<!--|%)\s*(TODO|FIXME)\b`

// describe looks at the project in at most four rounds of calls and writes an overview.
func (p *play) describe() (string, bool) {
	project := overview.New()
	for _, round := range []func(*overview.Project) bool{p.survey, p.widen, p.study, p.measure} {
		if !round(project) {
			return "", false
		}
	}
	name := p.place.name
	if name == "" {
		name = "This project"
	}
	return project.Write(name), true
}

// survey finds the names of the files. The list and the second pattern make sure that what matters most is known when a
// large project has more files than one call tells.
func (p *play) survey(project *overview.Project) bool {
	all, top := globCall("**/*", ""), listCall("", 0)
	results, ok := p.ask(all, top, globCall(overview.ManifestGlob(), ""))
	if !ok {
		return false
	}
	for i, r := range results {
		if r.failed {
			if i == 0 && !r.missing {
				project.Gaps = append(project.Gaps, "all files: "+brief(r.text))
			}
			continue
		}
		found := pathsOf(r.text)
		project.Add(found.paths)
		if i == 0 {
			project.Total = found.total
		}
	}
	if !p.offers(all) && !p.offers(top) {
		project.Gaps = append(project.Gaps, "the files: the tools glob and list are not offered")
	}
	return true
}

// widen looks into each main directory of a project that is too large for one call.
func (p *play) widen(project *overview.Project) bool {
	if !project.Large() {
		return true
	}
	dirs := project.Directories
	if len(dirs) > mostDirectories {
		dirs = dirs[:mostDirectories]
	}
	var calls []call
	for _, dir := range dirs {
		calls = append(calls, globCall("**/*", dir))
	}
	results, ok := p.ask(calls...)
	if !ok {
		return false
	}
	for i, r := range results {
		if !r.failed {
			found := pathsOf(r.text)
			project.Add(found.paths)
			project.InDirectory[dirs[i]] = found.total
		}
	}
	return true
}

// study reads what tells most, and looks for open notes.
func (p *play) study(project *overview.Project) bool {
	if len(project.Files) == 0 {
		return true
	}
	names := overview.Reading(project.Files)
	var calls []call
	for _, name := range names {
		calls = append(calls, readCall(name, 0, mostLines))
	}
	calls = append(calls, p.grepCall(instruction{pattern: openNotes, regex: true}))
	var languages []string
	if project.Large() {
		languages = project.MainLanguages(mostLanguages)
	}
	for _, l := range languages {
		calls = append(calls, globCall(overview.LanguageGlob(l), ""))
	}
	if !p.place.noGit { // together with calls that are allowed: a denial must not be all that came of a turn
		calls = append(calls, shellCall(historyCommand))
	}
	results, ok := p.ask(calls...)
	if !ok {
		return false
	}
	if p.place.noGit {
		project.Gaps = append(project.Gaps, "git history: this is no git repository")
	} else {
		p.commits(project, results[len(results)-1])
	}
	for i, name := range names {
		if r := results[i]; !r.failed {
			page := pageOf(r.text)
			project.Texts[name] = page.text()
			p.totals = p.totals || page.total > 0
		} else if i == 0 {
			project.Gaps = append(project.Gaps, fmt.Sprintf("what is in %s: %s", code(name), brief(r.text)))
		}
	}
	p.note(project, results[len(names)])
	for i, l := range languages {
		if r := results[len(names)+1+i]; !r.failed {
			project.OfLanguage[l] = pathsOf(r.text).total
		}
	}
	return true
}

func (p *play) note(project *overview.Project, r result) {
	if r.failed {
		project.Gaps = append(project.Gaps, "open TODOs: "+brief(r.text))
		return
	}
	hits, more := hitsOf(r.text)
	project.MoreNotes = more
	for _, h := range hits {
		project.Notes = append(project.Notes, overview.Note{Path: h.path, Line: h.line, Text: strings.TrimSpace(h.text)})
	}
}

// commit matches a line of the history.
var commit = lazy.Compile(`^[0-9a-f]{4,40} \d{4}-\d\d-\d\d .+`)

// measure counts the lines of the files, or of some of them when there are many.
func (p *play) measure(project *overview.Project) bool {
	if len(project.Files) == 0 {
		return true
	}
	var source []string
	switch {
	case project.Large(): // a sample of the names that are known would be a sample of a few directories
		project.Gaps = append(project.Gaps, "lines of code: there are too many files to count or sample them")
	case p.totals || len(project.Texts) == 0: // a read of one line tells how many there are
		source = project.Sample(mostCounted)
	}
	var calls []call
	for _, name := range source {
		calls = append(calls, readCall(name, 0, 1))
	}
	results, ok := p.ask(calls...)
	if !ok {
		return false
	}
	for i, name := range source {
		if page := pageOf(results[i].text); !results[i].failed && page.total > 0 {
			project.Lines[name] = page.total
		}
	}
	return true
}

// What git says outside of a repository, and in one without commits.
var (
	noRepository = lazy.Compile(`(?i)not a git repository`)
	noCommits    = lazy.Compile(`(?i)does not have any commits`)
)

func (p *play) commits(project *overview.Project, r result) {
	for line := range strings.Lines(r.text) {
		if line = strings.TrimSpace(line); !r.failed && commit.MatchString(line) {
			project.History = append(project.History, line)
		}
	}
	gap := ""
	switch {
	case len(project.History) > 0:
		return
	case noRepository.MatchString(r.text):
		gap = "this is no git repository"
	case r.missing, denied(r):
		gap = "needs permission to run commands (`--yes`)"
	case exited(r) && !noCommits.MatchString(r.text):
		gap = "the command for it failed: " + brief(r.text)
	default:
		gap = "there are no commits yet"
	}
	project.Gaps = append(project.Gaps, "git history: "+gap)
}
