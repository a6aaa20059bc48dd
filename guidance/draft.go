package guidance

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Draft returns a first AGENTS.md for a project: its build tools, their commands, and its directories. The same files give the same draft.
// Draft reads only manifests that it knows.
func Draft(dir string) string {
	d := drafting{dir: dir}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nFor everyone who works on this project, people and agents alike.\n", filepath.Base(dir))
	kinds, commands := d.manifests()
	if len(kinds) > 0 {
		fmt.Fprintf(&b, "\n## What it is\n\n%s\n", strings.Join(kinds, "\n"))
	}
	if len(commands) > 0 {
		fmt.Fprintf(&b, "\n## Commands\n\n%s\n", strings.Join(commands, "\n"))
	}
	if folders := d.folders(); len(folders) > 0 {
		fmt.Fprintf(&b, "\n## Folders\n\n%s\n", strings.Join(folders, "\n"))
	}
	b.WriteString("\n## Rules\n\n- Follow the style of the surrounding code, and run the tests before you report that work is done.\n")
	return b.String()
}

type drafting struct{ dir string }

// manifests returns the build tools of the project and their commands, as lines of Markdown.
func (d drafting) manifests() (kinds, commands []string) {
	add := func(kind string, lines ...string) {
		kinds = append(kinds, "- "+kind)
		for _, line := range lines {
			commands = append(commands, "    "+line)
		}
	}
	if text := d.read("go.mod"); text != "" {
		what := "Go"
		module, _, _ := strings.Cut(strings.TrimPrefix(text, "module "), "\n")
		if module = strings.TrimSpace(module); plain(module) {
			what += ", module `" + module + "`"
		}
		add(what, "go build ./...", "go test ./...", "go vet ./...")
	}
	if text := d.read("package.json"); text != "" {
		add("JavaScript or TypeScript (`package.json`)", d.scripts(text)...)
	}
	if d.read("Cargo.toml") != "" {
		add("Rust (`Cargo.toml`)", "cargo build", "cargo test")
	}
	for _, name := range []string{"pyproject.toml", "setup.py", "requirements.txt"} {
		if d.read(name) != "" {
			add("Python (`"+name+"`)", "python -m pytest")
			break
		}
	}
	if d.read("pom.xml") != "" {
		add("Java (`pom.xml`)", "mvn test")
	}
	for _, name := range []string{"build.gradle", "build.gradle.kts"} {
		if d.read(name) != "" {
			add("Java or Kotlin (`"+name+"`)", "./gradlew test")
			break
		}
	}
	if d.read("CMakeLists.txt") != "" {
		add("C or C++ (`CMakeLists.txt`)", "cmake -B build && cmake --build build", "ctest --test-dir build")
	}
	if text := d.read("Makefile"); text != "" {
		var lines []string
		for _, target := range targets(text) {
			lines = append(lines, "make "+target)
		}
		add("`Makefile`", lines...)
	}
	return kinds, commands
}

// scripts returns the commands that run the scripts of a package.json.
func (d drafting) scripts(text string) []string {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &manifest) != nil {
		return nil
	}
	runner := "npm run "
	for _, r := range []struct{ lock, with string }{{"bun.lock", "bun run "}, {"yarn.lock", "yarn "}, {"pnpm-lock.yaml", "pnpm "}} {
		if _, err := os.Lstat(filepath.Join(d.dir, r.lock)); err == nil {
			runner = r.with
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(manifest.Scripts)) {
		if len(out) < 12 && plain(name) && !strings.Contains(name, " ") {
			out = append(out, runner+name)
		}
	}
	return out
}

// targets returns the targets of a Makefile that people call.
func targets(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		name, _, ok := strings.Cut(line, ":")
		plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
		if ok && plain && name != "" && !strings.HasPrefix(line[len(name):], ":=") && !slices.Contains(out, name) && len(out) < 12 {
			out = append(out, name)
		}
	}
	return out
}

// folders returns the directories of the project, as lines of Markdown.
func (d drafting) folders() []string {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		built := slices.Contains([]string{"node_modules", "vendor", "target", "dist", "build"}, e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !built && plain(e.Name()) && len(out) < 30 {
			out = append(out, "- `"+e.Name()+"/`")
		}
	}
	return out
}

// plain reports whether the draft can contain a name of the project. A model must not read the name as anything else, such as an instruction.
func plain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return strings.ContainsRune("`<>", r) || !unicode.IsPrint(r) })
}

// read returns the first bytes of a file of the project. If there is no such file, it returns an empty text.
func (d drafting) read(name string) string {
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}
