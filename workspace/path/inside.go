package path

import (
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folds reports whether the system treats upper and lower case in paths as the same.
const Folds = runtime.GOOS == "windows" || runtime.GOOS == "darwin" || runtime.GOOS == "ios"

// Key returns a name as a key of a map: two names that the system treats as the same have the same key.
func Key(name string) string {
	if !Folds {
		return name
	}
	return strings.Map(fold, name)
}

// fold returns the smallest of the runes that differ in case only.
func fold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// Same reports whether two names are the same for the system.
func Same(a, b string) bool { return a == b || Folds && strings.EqualFold(a, b) }

// Inside reports whether name is dir or lies in it. Both are absolute and clean. It looks at the names only: resolve them first.
func Inside(dir, name string) bool {
	_, ok := Rel(dir, name)
	return ok
}

// Rel returns the path of name from dir, "." for dir itself, if name is dir or lies in it. Both are absolute and clean.
func Rel(dir, name string) (rel string, ok bool) { return relative(dir, name, Folds) }

func relative(dir, name string, folds bool) (string, bool) {
	rest, ok := strings.CutPrefix(name, dir)
	if !ok && folds {
		rest, ok = cutFolded(name, dir)
	}
	switch {
	case !ok || dir == "":
		return "", false
	case rest == "":
		return ".", true
	case dir[len(dir)-1] == filepath.Separator: // the root of a file system
		return rest, true
	case rest[0] == filepath.Separator:
		return rest[1:], true
	}
	return "", false
}

// cutFolded is [strings.CutPrefix] without regard to case. Upper and lower case may differ in length.
func cutFolded(name, prefix string) (string, bool) {
	for prefix != "" {
		p, n := utf8.DecodeRuneInString(prefix)
		r, m := utf8.DecodeRuneInString(name)
		if m == 0 || p != r && fold(p) != fold(r) || p == utf8.RuneError && prefix[:n] != name[:m] {
			return "", false
		}
		prefix, name = prefix[n:], name[m:]
	}
	return name, true
}

// In returns the first of some directories or files that name is or lies in.
func In(dirs []string, name string) (dir string, ok bool) {
	for _, dir := range dirs {
		if Inside(dir, name) {
			return dir, true
		}
	}
	return "", false
}

// Holds reports whether one of some names lies in dir and is not dir itself.
func Holds(dir string, names []string) bool {
	for _, name := range names {
		if rel, ok := Rel(dir, name); ok && rel != "." {
			return true
		}
	}
	return false
}

// Show returns name for people and models: from dir and with slashes if it lies in dir, unchanged otherwise.
func Show(dir, name string) string {
	if rel, ok := Rel(dir, name); ok {
		return filepath.ToSlash(rel)
	}
	return name
}
