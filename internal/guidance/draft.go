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

// Draft is a first AGENTS.md for a project, made of what its files say by themselves: what it is built with, the commands for that, and its
// folders. It is the same for the same files, and reads none but those it knows.
func Draft(dir string) string {
	d := drafting{dir: dir}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nFor everybody who works on this project, people and agents alike.\n", filepath.Base(dir))
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
	b.WriteString("\n## Rules\n\n- Do it as the code around it does, and run the tests before you say that something is done.\n")
	return b.String()
}

type drafting struct{ dir string }

// manifests is what the project is built with, and the commands for that, as lines of Markdown.
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

// scripts is the commands for the scripts of a package.json.
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

// targets is the targets of a Makefile that people call.
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

// folders is the folders of the project, as lines of Markdown.
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

// plain reports whether a name of the project can stand in the draft: it must not pass for anything else there, such as an order to a model.
func plain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return strings.ContainsRune("`<>", r) || !unicode.IsPrint(r) })
}

// read is the beginning of a file of the project; empty when there is none.
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
