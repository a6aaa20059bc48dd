package overview

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// Manifests of scripting languages.

func readPackageJSON(p *Project, m *Manifest, text string) {
	var pkg struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Main        string            `json:"main"`
		Bin         json.RawMessage   `json:"bin"`
		Scripts     map[string]string `json:"scripts"`
		Deps        map[string]string `json:"dependencies"`
		DevDeps     map[string]string `json:"devDependencies"`
		Engines     map[string]string `json:"engines"`
		Workspaces  json.RawMessage   `json:"workspaces"`
	}
	m.Kind = "Node package"
	if json.Unmarshal([]byte(text), &pkg) != nil {
		return
	}
	m.Name, m.Purpose, m.DevDeps = pkg.Name, pkg.Description, len(pkg.DevDeps)
	m.Deps = slices.Sorted(maps.Keys(pkg.Deps))
	if v := pkg.Engines["node"]; v != "" {
		m.Needs = "Node " + v
	}
	if pkg.Main != "" {
		m.Entries = append(m.Entries, span(m.beside(pkg.Main))+" (main)")
	}
	for _, name := range jsonTexts(pkg.Bin) {
		m.Entries = append(m.Entries, span(m.beside(name))+" (command)")
	}
	m.Members = jsonTexts(pkg.Workspaces)
	manager := packageManager(p)
	m.task("install", manager+" install")
	for _, name := range slices.Sorted(maps.Keys(pkg.Scripts)) {
		command := manager + " run " + name
		if name == "test" || name == "start" {
			command = manager + " " + name
		}
		m.task(taskOf(name), command)
	}
}

func packageManager(p *Project) string {
	for _, lock := range []struct{ file, manager string }{
		{"pnpm-lock.yaml", "pnpm"}, {"pnpm-workspace.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lockb", "bun"}, {"bun.lock", "bun"},
	} {
		if p.has(lock.file) {
			return lock.manager
		}
	}
	return "npm"
}

// jsonTexts returns the strings of a value that is one, a list, or an object; of an object with packages, those.
func jsonTexts(raw json.RawMessage) []string {
	var one string
	var many []string
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &one) == nil && one != "":
		return []string{one}
	case json.Unmarshal(raw, &many) == nil:
		return many
	case json.Unmarshal(raw, &object) == nil:
		if packages, ok := object["packages"]; ok {
			return jsonTexts(packages)
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if json.Unmarshal(object[key], &one) == nil {
				many = append(many, one)
			}
		}
	}
	return many
}

// taskOf says what a script or a target of that name does.
func taskOf(name string) string {
	word, _, _ := strings.Cut(strings.ToLower(name), ":")
	word, _, _ = strings.Cut(word, "-")
	switch word {
	case "build", "compile", "all", "dist", "bundle":
		return "build"
	case "test", "tests", "check", "spec", "e2e":
		return "test"
	case "start", "run", "serve", "dev":
		return "run"
	case "lint", "fmt", "format", "vet", "typecheck":
		return "check"
	case "install", "setup", "deps":
		return "install"
	}
	return "other"
}

func readPnpm(_ *Project, m *Manifest, text string) {
	m.Kind = "pnpm workspace"
	for line := range strings.Lines(text) {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			m.Members = append(m.Members, strings.Trim(item, `"'`))
		}
	}
}

var pyName = lazy.Compile(`^\s*([A-Za-z0-9][\w.-]*)`)

func pyDeps(list []string) (names []string) {
	for _, s := range list {
		if g := pyName.FindStringSubmatch(s); g != nil {
			names = append(names, g[1])
		}
	}
	return names
}

func readPyproject(_ *Project, m *Manifest, text string) {
	t := readTOML(text)
	project, poetry := t["project"], t["tool.poetry"]
	m.Kind = "Python project"
	m.Name, m.Purpose = project.get("name")+poetry.get("name"), project.get("description")+poetry.get("description")
	if v := project.get("requires-python"); v != "" {
		m.Needs = "Python " + v
	}
	if project != nil {
		m.Deps = pyDeps(texts(project.values["dependencies"]))
	}
	if deps := t["tool.poetry.dependencies"]; deps != nil {
		m.Deps = append(m.Deps, slices.DeleteFunc(slices.Clone(deps.keys), func(s string) bool { return s == "python" })...)
	}
	for _, name := range []string{"project.scripts", "tool.poetry.scripts"} {
		if scripts := t[name]; scripts != nil {
			for _, key := range scripts.keys {
				m.Entries = append(m.Entries, fmt.Sprintf("command %s: %s", span(key), span(scripts.get(key))))
			}
		}
	}
	install := "python3 -m pip install -e ."
	if poetry != nil {
		install = "poetry install"
	}
	m.task("install", install)
	if strings.Contains(text, "pytest") {
		m.task("test", "python3 -m pytest")
	}
}

var (
	setupField = lazy.Compile(`(?m)\b(name|description)\s*=\s*["']([^"'\n]+)["']`)
	setupDeps  = lazy.Compile(`(?s)\binstall_requires\s*=\s*\[(.*?)\]`)
)

func readSetupPy(_ *Project, m *Manifest, text string) {
	m.Kind = "Python project"
	for _, g := range setupField.FindAllStringSubmatch(text, -1) {
		if g[1] == "name" && m.Name == "" {
			m.Name = g[2]
		}
		if g[1] == "description" && m.Purpose == "" {
			m.Purpose = g[2]
		}
	}
	if g := setupDeps.FindStringSubmatch(text); g != nil {
		m.Deps = pyDeps(texts(g[1]))
	}
	m.task("install", "python3 -m pip install -e .")
}

func readSetupCfg(_ *Project, m *Manifest, text string) {
	meta := readTOML(text)["metadata"]
	if meta == nil {
		return
	}
	m.Kind, m.Name, m.Purpose = "Python project", meta.get("name"), meta.get("description")
}

func readRequirements(_ *Project, m *Manifest, text string) {
	m.Kind = "Python requirements"
	for line := range strings.Lines(text) {
		m.Deps = append(m.Deps, pyDeps([]string{line})...)
	}
	m.task("install", "python3 -m pip install -r requirements.txt")
}

func readComposer(_ *Project, m *Manifest, text string) {
	var pkg struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Require     map[string]string `json:"require"`
		Dev         map[string]string `json:"require-dev"`
		Scripts     map[string]any    `json:"scripts"`
	}
	m.Kind = "PHP package"
	if json.Unmarshal([]byte(text), &pkg) != nil {
		return
	}
	m.Name, m.Purpose, m.DevDeps = pkg.Name, pkg.Description, len(pkg.Dev)
	for _, name := range slices.Sorted(maps.Keys(pkg.Require)) {
		if name == "php" {
			m.Needs = "PHP " + pkg.Require[name]
			continue
		}
		m.Deps = append(m.Deps, name)
	}
	m.task("install", "composer install")
	for _, name := range slices.Sorted(maps.Keys(pkg.Scripts)) {
		m.task(taskOf(name), "composer "+name)
	}
}

var gem = lazy.Compile(`(?m)^\s*gem\s+["']([^"']+)["']`)

func readGemfile(p *Project, m *Manifest, text string) {
	m.Kind = "Ruby bundle"
	for _, g := range gem.FindAllStringSubmatch(text, -1) {
		m.Deps = append(m.Deps, g[1])
	}
	m.task("install", "bundle install")
	if p.has(m.beside("Rakefile")) {
		m.task("test", "bundle exec rake")
	}
}

var (
	mixApp = lazy.Compile(`\bapp:\s*:(\w+)`)
	mixDep = lazy.Compile(`\{\s*:(\w+)\s*,`)
)

func readMix(_ *Project, m *Manifest, text string) {
	m.Kind = "Elixir project"
	if g := mixApp.FindStringSubmatch(text); g != nil {
		m.Name = g[1]
	}
	for _, g := range mixDep.FindAllStringSubmatch(text, -1) {
		m.Deps = append(m.Deps, g[1])
	}
	m.task("install", "mix deps.get")
	m.task("build", "mix compile")
	m.task("test", "mix test")
}

var yamlKey = lazy.Compile(`^( *)([\w-]+):\s*(.*)$`)

func readPubspec(_ *Project, m *Manifest, text string) {
	m.Kind = "Dart package"
	section := ""
	for line := range strings.Lines(text) {
		g := yamlKey.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if g == nil {
			continue
		}
		switch {
		case g[1] == "":
			section = g[2]
			if section == "name" {
				m.Name = strings.Trim(g[3], `"'`)
			} else if section == "description" {
				m.Purpose = strings.Trim(g[3], `"'`)
			}
		case len(g[1]) == 2 && section == "dependencies":
			m.Deps = append(m.Deps, g[2])
		case len(g[1]) == 2 && section == "dev_dependencies":
			m.DevDeps++
		}
	}
	tool := "dart"
	if slices.Contains(m.Deps, "flutter") {
		tool = "flutter"
	}
	m.task("install", tool+" pub get")
	m.task("test", tool+" test")
}
