package overview

import (
	"path"
	"regexp"
	"strings"
)

// Manifests that are about tasks rather than about a language.

var target = regexp.MustCompile(`^([A-Za-z][\w.-]*)(?:\s+[^:=]*)?:(?:[^=]|$)`)

// mostTargets bounds how many targets of one file are listed.
const mostTargets = 12

func readMakefile(_ *Project, m *Manifest, text string) {
	tool := "make"
	m.Kind = "Makefile"
	if path.Base(m.Path) == "justfile" {
		tool, m.Kind = "just", "justfile"
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		g := target.FindStringSubmatch(line)
		if g == nil || seen[g[1]] || len(seen) >= mostTargets || strings.Contains(g[1], ".") {
			continue
		}
		seen[g[1]] = true
		m.task(taskOf(g[1]), tool+" "+g[1])
	}
}

var (
	dockerFrom  = regexp.MustCompile(`(?mi)^\s*FROM\s+(\S+)`)
	dockerStart = regexp.MustCompile(`(?mi)^\s*(?:CMD|ENTRYPOINT)\s+(.+)$`)
	dockerPort  = regexp.MustCompile(`(?mi)^\s*EXPOSE\s+(.+)$`)
)

func readDockerfile(_ *Project, m *Manifest, text string) {
	m.Kind = "Dockerfile"
	if from := dockerFrom.FindAllStringSubmatch(text, -1); len(from) > 0 {
		m.Needs = "image " + from[len(from)-1][1]
	}
	if start := dockerStart.FindAllStringSubmatch(text, -1); len(start) > 0 {
		m.Entries = append(m.Entries, "container: "+span(short(start[len(start)-1][1], 80)))
	}
	if port := dockerPort.FindStringSubmatch(text); port != nil && len(m.Entries) > 0 {
		m.Entries[0] += ", port " + span(short(port[1], 20))
	}
	m.task("build", "docker build .")
}
