package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns a path as people and models are shown it: as it is when it is plain text, and as a Go string in double quotes
// when it has line breaks, control characters or bytes that are no UTF-8, so that it cannot be taken for something else. All
// methods of a [Workspace] take a path in this form too.
func Quote(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, hidden) {
		return path
	}
	return strconv.Quote(path)
}

// hidden reports whether a rune is not seen as what it is.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// unquote is the inverse of [Quote]. A file that really has the quotes in its name comes first.
func (w *Workspace) unquote(name string) string {
	if len(name) < 2 || name[0] != '"' {
		return name
	}
	plain, err := strconv.Unquote(name)
	if err != nil {
		return name
	}
	if _, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name))); err == nil {
		return name
	}
	return plain
}
