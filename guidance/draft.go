package guidance

import (
	"cmp"
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

// Draft returns a first AGENTS.md for a project: its build tools, their commands, the layout of its tests, and its directories. The same files
// give the same draft. Draft reads only manifests that it knows, and the names of files.
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
	if tests := d.tests(); len(tests) > 0 {
		fmt.Fprintf(&b, "\n## Tests\n\n%s\n", strings.Join(tests, "\n"))
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
		add(what, "go build ./...", "go test ./...", "go test -run TestName ./path/to/package", "go vet ./...")
	}
	if text := d.read("package.json"); text != "" {
		add("JavaScript or TypeScript (`package.json`)", d.scripts(text)...)
	}
	if d.read("Cargo.toml") != "" {
		add("Rust (`Cargo.toml`)", "cargo build", "cargo test", "cargo test NAME")
	}
	for _, name := range []string{"pyproject.toml", "setup.py", "requirements.txt"} {
		if d.read(name) != "" {
			add("Python (`"+name+"`)", "python -m pytest", "python -m pytest path/to/test_file.py -k NAME")
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
		if len(out) < 12 && plain(name) && !strings.Contains(name, " ") && !runsItself(name, manifest.Scripts) {
			out = append(out, runner+name)
		}
	}
	return out
}

// runsItself reports whether the package manager runs a script of a package.json by itself: with an installation, or around another script.
func runsItself(name string, scripts map[string]string) bool {
	around := false
	for _, prefix := range []string{"pre", "post"} {
		other, cut := strings.CutPrefix(name, prefix)
		around = around || cut && scripts[other] != ""
	}
	return around || slices.Contains([]string{
		"install", "preinstall", "postinstall", "prepare", "prepublish", "prepublishOnly", "postpublish", "prepack", "postpack", "dependencies",
	}, name)
}

// testFile returns the pattern of the names of test files that fits a name; empty for other files.
func testFile(name string) string {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	switch ext {
	case ".py":
		if strings.HasPrefix(stem, "test_") {
			return "test_*.py"
		}
	case ".java", ".kt":
		if strings.HasSuffix(stem, "Test") {
			return "*Test" + ext
		}
	}
	for _, end := range []string{"_test", "_spec", ".test", ".spec"} {
		if ext != "" && plain(ext) && strings.HasSuffix(stem, end) {
			return "*" + end + ext
		}
	}
	return ""
}

// tests returns the layout of the tests, as lines of Markdown: the names of test files, where they are, and their number there.
func (d drafting) tests() (out []string) {
	const most, lines = 20_000, 8                                                   // files and directories, lines
	seen, places := 0, map[string]map[string]int{}                                  // files by pattern and place
	_ = filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error { // an unreadable directory has no tests to name
		switch seen++; {
		case seen > most:
			return filepath.SkipAll
		case err != nil, e.IsDir() && path != d.dir && (strings.HasPrefix(e.Name(), ".") || slices.Contains(skipped, e.Name())):
			return filepath.SkipDir
		}
		if pattern := testFile(e.Name()); pattern != "" && e.Type().IsRegular() {
			if places[pattern] == nil {
				places[pattern] = map[string]int{}
			}
			places[pattern][d.placeOf(path)]++
		}
		return nil
	})
	for _, pattern := range slices.Sorted(maps.Keys(places)) {
		of := places[pattern]
		where := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(of[b]-of[a], strings.Compare(a, b)) })
		for i, place := range where {
			where[i] = fmt.Sprintf("%s (%d)", place, of[place])
		}
		out = append(out, fmt.Sprintf("- `%s`: %s", pattern, strings.Join(where[:min(len(where), 3)], ", ")))
	}
	return out[:min(len(out), lines)]
}

// placeOf returns the place of a test file: a directory for tests, or that of the code.
func (d drafting) placeOf(path string) string {
	rel, _ := filepath.Rel(d.dir, path) // it is below the directory
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(rel)), "/")
	for i, dir := range dirs {
		if slices.Contains([]string{"test", "tests", "spec", "__tests__", "e2e"}, dir) {
			if i == 0 {
				return "`" + dir + "/`"
			}
			return "directories `" + dir + "/`"
		}
	}
	return "next to the code"
}

// skipped are directories of dependencies and builds.
var skipped = []string{"node_modules", "vendor", "target", "dist", "build", "testdata", "venv"}

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
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(skipped, e.Name()) && plain(e.Name()) && len(out) < 30 {
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
