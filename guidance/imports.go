package guidance

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxImports is the largest number of files that one file may import.
const maxImports = 32

// imports returns the files that a text imports, each once: words such as @docs/style.md or @~/notes.md, except in code. The caller checks
// whether the files exist, because a word may be the name of a person.
func imports(text, dir, home string) []string {
	var out []string
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if f := fenceOf(line); f != "" && (fence == "" || f == fence) {
			if fence == "" {
				fence = f
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" || !strings.Contains(line, "@") {
			continue
		}
		for _, word := range strings.Fields(withoutCode(line)) {
			path := imported(word, dir, home)
			if path != "" && !slices.Contains(out, path) && len(out) < maxImports {
				out = append(out, path)
			}
		}
	}
	return out
}

// imported returns the path that a word imports. If the word imports none, it returns an empty path.
func imported(word, dir, home string) string {
	path, ok := strings.CutPrefix(strings.TrimLeft(word, "(["), "@")
	path = strings.TrimRight(path, ".,;:!?)]'\"")
	if !ok || !strings.ContainsAny(path, "./~") || strings.ContainsAny(path, "@\x00") {
		return ""
	}
	rest, atHome := strings.CutPrefix(path, "~/")
	switch {
	case atHome && home == "":
		return ""
	case atHome:
		return filepath.Join(home, filepath.FromSlash(rest))
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	default:
		return filepath.Join(dir, filepath.FromSlash(path))
	}
}

// fenceOf returns the mark with which a line begins or ends a block of code.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// withoutCode returns a line without the code between backticks.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	if len(parts) < 3 {
		return line
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 || i == len(parts)-1 {
			b.WriteString(part + " ")
		}
	}
	return b.String()
}
