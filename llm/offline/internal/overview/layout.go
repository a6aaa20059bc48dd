package overview

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// directory is a main directory of the project.
type directory struct {
	Name  string
	Files int
	Main  string   // language of most of its files, or ""
	About string   // what the name says by custom, or ""
	Below []string // its main directories
}

// customs is what directories of these names hold in most projects.
var customs = map[string]string{
	"cmd": "programs", "bin": "programs and scripts", "internal": "private packages", "pkg": "packages for others",
	"src": "source code", "lib": "library code", "app": "the application", "apps": "applications", "packages": "packages of the monorepo",
	"crates": "crates of the workspace", "docs": "documentation", "doc": "documentation", "examples": "examples", "example": "example",
	"test": "tests", "tests": "tests", "spec": "tests", "e2e": "end-to-end tests", "testdata": "data for tests", "scripts": "scripts",
	"tools": "tools for development", "build": "what building needs", "deploy": "deployment", "deployments": "deployment",
	"k8s": "deployment to Kubernetes", "charts": "Helm charts", "config": "configuration", "configs": "configuration", "assets": "assets",
	"static": "static files", "public": "public files", "web": "web front end", "frontend": "front end", "client": "client",
	"server": "server", "backend": "back end", "api": "programming interface", "migrations": "database migrations", "db": "database",
	"vendor": "dependencies, copied", "node_modules": "dependencies, installed", "third_party": "code of others", ".github": "GitHub settings",
	"include": "headers", "benchmarks": "benchmarks", "bench": "benchmarks", "proto": "protocol definitions", "templates": "templates",
	"components": "components", "pages": "pages", "styles": "styles", "hooks": "hooks", "models": "models", "views": "views",
	"controllers": "controllers", "routes": "routes", "locales": "translations", "i18n": "translations", "infra": "infrastructure",
	"terraform": "infrastructure", "contrib": "contributions", "fixtures": "data for tests", "notebooks": "notebooks", "data": "data",
}

const (
	mostDirectories = 16
	mostBelow       = 8
)

// layout returns the main directories, by name, and how many more there are.
func (p *Project) layout() (dirs []directory, more int) {
	by := map[string][]string{}
	for _, f := range p.Files {
		if top, _, below := strings.Cut(f, "/"); below {
			by[top] = append(by[top], f)
		}
	}
	for name, files := range by {
		d := directory{Name: name, Files: max(len(files), p.InDirectory[name]), About: customs[strings.ToLower(name)], Below: below(name, files)}
		if s := p.shares(files); len(s) > 0 && s[0].Files*2 > len(files) {
			d.Main = s[0].Language
		}
		dirs = append(dirs, d)
	}
	slices.SortFunc(dirs, func(a, b directory) int { return cmp.Or(b.Files-a.Files, strings.Compare(a.Name, b.Name)) })
	if len(dirs) > mostDirectories {
		more = len(dirs) - mostDirectories
		dirs = dirs[:mostDirectories]
	}
	slices.SortFunc(dirs, func(a, b directory) int { return strings.Compare(a.Name, b.Name) })
	return dirs, more
}

// below returns the directories of dir with the most files, by name.
func below(dir string, files []string) []string {
	counts := map[string]int{}
	for _, f := range files {
		if name, _, deeper := strings.Cut(strings.TrimPrefix(f, dir+"/"), "/"); deeper {
			counts[name]++
		}
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	more := len(names) > mostBelow
	names = names[:min(len(names), mostBelow)]
	slices.Sort(names)
	if more {
		names = append(names, "…")
	}
	return names
}

// pipelines returns the files that tell a build server what to do.
func pipelines(files []string) []string {
	var found []string
	for _, f := range files {
		base := path.Base(f)
		switch {
		case strings.HasPrefix(f, ".github/workflows/"), strings.HasPrefix(f, ".circleci/"), strings.HasPrefix(f, ".buildkite/"),
			strings.HasPrefix(f, ".ci/"), strings.HasPrefix(f, ".woodpecker/"):
			found = append(found, f)
		case f == base:
			switch base {
			case ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "Jenkinsfile", "bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml", ".cirrus.yml":
				found = append(found, f)
			}
		}
	}
	return found
}
