package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns a path in the form for people and models: unchanged if it is plain text, and as a Go string in double quotes if it has line
// breaks, control characters or bytes that are not UTF-8. All methods of a [Workspace] accept a path in this form, too.
func Quote(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, hidden) {
		return path
	}
	return strconv.Quote(path)
}

// hidden reports whether a rune is not visible as itself.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// unquote is the inverse of [Quote]. A file that really has the quotes in its name comes first.
func (b *boundary) unquote(name string) string {
	if len(name) < 2 || name[0] != '"' {
		return name
	}
	plain, err := strconv.Unquote(name)
	if err != nil {
		return name
	}
	if _, err := os.Lstat(filepath.Join(b.dir, filepath.FromSlash(name))); err == nil {
		return name
	}
	return plain
}
