package overview

import (
	"path"
	"slices"
	"strings"
)

// Manifest is what a project says about itself to its tools.
type Manifest struct {
	Path    string
	Kind    string // such as "Go module"
	Name    string
	Purpose string
	Needs   string // such as "Go 1.26"
	Tasks   []Task
	Entries []string // where the program begins, with words about it
	Deps    []string // direct ones, in the order of the file
	DevDeps int      // those for development only
	Members []string // directories of a workspace
}

// Task is a command and what it does.
type Task struct{ What, Command string }

type reader struct {
	match string // the base name; with *, any such name
	read  func(p *Project, m *Manifest, text string)
}

// readers are in the order of how much each kind tells.
var readers = []reader{
	{"go.mod", readGoMod},
	{"Cargo.toml", readCargo},
	{"package.json", readPackageJSON},
	{"pyproject.toml", readPyproject},
	{"setup.py", readSetupPy},
	{"setup.cfg", readSetupCfg},
	{"requirements.txt", readRequirements},
	{"pom.xml", readPom},
	{"build.gradle", readGradle},
	{"build.gradle.kts", readGradle},
	{"composer.json", readComposer},
	{"Gemfile", readGemfile},
	{"mix.exs", readMix},
	{"pubspec.yaml", readPubspec},
	{"*.csproj", readCsproj},
	{"*.fsproj", readCsproj},
	{"CMakeLists.txt", readCMake},
	{"Package.swift", readSwift},
	{"Makefile", readMakefile},
	{"makefile", readMakefile},
	{"GNUmakefile", readMakefile},
	{"justfile", readMakefile},
	{"Dockerfile", readDockerfile},
	{"go.work", readGoWork},
	{"pnpm-workspace.yaml", readPnpm},
}

// ManifestGlob matches the names of all manifests anywhere in a project.
func ManifestGlob() string {
	names := make([]string, len(readers))
	for i, r := range readers {
		names[i] = r.match
	}
	return "**/{" + strings.Join(names, ",") + "}"
}

// manifestRank is the place of a manifest in readers, or -1 for a file that is none.
func manifestRank(name string) int {
	base := path.Base(name)
	return slices.IndexFunc(readers, func(r reader) bool {
		if ext, ok := strings.CutPrefix(r.match, "*"); ok {
			return strings.HasSuffix(base, ext)
		}
		return base == r.match
	})
}

// manifests reads the manifests among the texts.
func (p *Project) manifests() []Manifest {
	var all []Manifest
	names := make([]string, 0, len(p.Texts))
	for name := range p.Texts {
		names = append(names, name)
	}
	for _, name := range Reading(sorted(names)) {
		rank := manifestRank(name)
		if rank < 0 {
			continue
		}
		m := Manifest{Path: name}
		readers[rank].read(p, &m, p.Texts[name])
		if m.Kind != "" {
			all = append(all, m)
		}
	}
	return all
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// dir is the directory of the manifest, "" for the top.
func (m *Manifest) dir() string {
	if d := path.Dir(m.Path); d != "." {
		return d
	}
	return ""
}

func (m *Manifest) task(what, command string) { m.Tasks = append(m.Tasks, Task{what, command}) }

// beside is the name of a file next to the manifest.
func (m *Manifest) beside(name string) string { return path.Join(m.dir(), name) }
