package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// position is a position in a file as servers count: lines and characters from zero. Characters are bytes or units of UTF-16.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// location is a part of a file.
type location struct {
	URI         string `json:"uri"`
	Range       span   `json:"range"`
	TargetURI   string `json:"targetUri"` // of a link
	TargetRange span   `json:"targetSelectionRange"`
}

// lineStart returns the offset at which a line begins; the length of the text after its last line.
func lineStart(text string, line int) int {
	at := 0
	for ; line > 0; line-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}

// offset returns the byte offset of a position. A position after the end of its line is that end.
func offset(text string, p position, bytes bool) int {
	at := lineStart(text, max(p.Line, 0))
	line := text[at:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = strings.TrimSuffix(line[:i], "\r")
	}
	if bytes {
		return at + min(max(p.Character, 0), len(line))
	}
	units := 0
	for i, r := range line {
		if units >= p.Character {
			return at + i
		}
		units += width(r)
	}
	return at + len(line)
}

// positionAt returns the position of a byte offset.
func positionAt(text string, at int, bytes bool) position {
	at = min(max(at, 0), len(text))
	line := strings.Count(text[:at], "\n")
	start := strings.LastIndexByte(text[:at], '\n') + 1
	if bytes {
		return position{line, at - start}
	}
	units := 0
	for _, r := range text[start:at] {
		units += width(r)
	}
	return position{line, units}
}

// width is the number of units of UTF-16. An invalid byte counts as one.
func width(r rune) int { return max(utf16.RuneLen(r), 1) }

// column is the number, from one, of a character in its line, for people and models.
func column(text string, p position, bytes bool) int {
	at := offset(text, p, bytes)
	start := strings.LastIndexByte(text[:at], '\n') + 1
	return utf8.RuneCountInString(text[start:at]) + 1
}

// uriOf returns the address of a file.
func uriOf(name string) string {
	slashed := filepath.ToSlash(name)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// pathOf returns the absolute path of an address; "" if it is not that of a file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	if name = filepath.Clean(filepath.FromSlash(name)); !filepath.IsAbs(name) {
		return ""
	}
	return name
}
