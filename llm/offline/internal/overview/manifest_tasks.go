package overview

import (
	"path"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// Manifests that are about tasks rather than about a language.

var target = lazy.Compile(`^([A-Za-z][\w.-]*)(?:\s+[^:=]*)?:(?:[^=]|$)`)

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
	dockerFrom  = lazy.Compile(`(?mi)^\s*FROM\s+(\S+)`)
	dockerStart = lazy.Compile(`(?mi)^\s*(?:CMD|ENTRYPOINT)\s+(.+)$`)
	dockerPort  = lazy.Compile(`(?mi)^\s*EXPOSE\s+(.+)$`)
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
