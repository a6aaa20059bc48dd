package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Paths in a line are those of a POSIX shell. Directories of the caller may be those of another system.

// paths returns the absolute paths of a word, from each possible directory of the command.
func (e expander) paths(w word) (all []string) {
	if e.place.remote {
		return nil
	}
	if w.dynamic {
		if w.dir != "" && (len(e.place.dirs) != 1 || e.place.dirs[0] != w.dir) {
			return []string{""}
		}
		for _, b := range w.below {
			all = add(all, e.paths(b))
		}
		if len(w.below) == 0 {
			all = []string{""}
		}
		return all
	}
	p := w.text
	if w.tilde {
		rest, ok := e.home(p)
		if !ok {
			return []string{""}
		}
		p = rest
	}
	if p == "" || silent(path.Clean(p)) {
		return nil
	}
	if absolute(p) {
		return ups(p)
	}
	for _, dir := range e.place.dirs {
		if dir == "" {
			return []string{""}
		}
		all = add(all, ups(strings.TrimSuffix(dir, "/")+"/"+p))
	}
	return all
}

// below returns the paths below which a word of [word.named] lies.
func (e expander) below(w word) (all []string) {
	e.place.dirs = []string{w.dir}
	return e.paths(w)
}

// written is paths for a word that is written. What is opened for reading may be opened again for writing by the names of the standard
// streams and other descriptors: standard input is often a file that is only read.
func (e expander) written(w word) []string {
	if name := path.Clean(w.text); !w.dynamic && again(name) {
		if e.a.reopens = true; name == "/dev/stdin" || name == "/dev/fd/0" {
			return []string{""}
		}
	}
	return e.paths(w)
}

// home replaces the ~ at the start of a path.
func (e expander) home(p string) (string, bool) {
	if e.a.options.Home == "" || p != "~" && !strings.HasPrefix(p, "~/") || e.a.known("HOME") {
		return "", false
	}
	return e.a.options.Home + p[1:], true
}

func absolute(p string) bool { return strings.HasPrefix(p, "/") || filepath.IsAbs(p) }

// ups returns a path, and each directory below which it goes up. Such a directory may be a link, and the path then leads elsewhere:
// such a path is not cleaned, so that resolving it finds the file that the system opens.
func ups(p string) (all []string) {
	switch {
	case paths.Magic(p):
		return []string{""}
	case !strings.Contains(p, "/.."):
		return []string{path.Clean(p)}
	}
	parts := strings.Split(p, "/")
	for i := 1; i < len(parts); i++ {
		if parts[i] == ".." && parts[i-1] != ".." && parts[i-1] != "." && parts[i-1] != "" {
			dir := path.Clean(strings.Join(parts[:i], "/"))
			if paths.Magic(dir) {
				return []string{""}
			}
			all = add(all, []string{dir})
		}
	}
	return add(all, []string{p})
}

// up reports whether a path goes up a directory.
func up(p string) bool { return strings.Contains("/"+p+"/", "/../") }

// add appends the missing elements.
func add(all, more []string) []string {
	for _, p := range more {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// enter returns the directories that going to w leads to.
func (e expander) enter(w word) (dirs []string) {
	if w.dynamic || w.glob || e.place.remote {
		return []string{""}
	}
	p := w.text
	if w.tilde {
		var ok bool
		if p, ok = e.home(p); !ok {
			return []string{""}
		}
	}
	for _, dir := range e.place.dirs {
		switch {
		case absolute(p):
			dirs = union(dirs, []string{path.Clean(p)})
		case dir == "":
			dirs = union(dirs, []string{""})
		default:
			dirs = union(dirs, []string{path.Join(dir, p)})
		}
	}
	return dirs
}

// shown is a text for people: one line, truncated.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "..."
	}
	if s == "" {
		return "something"
	}
	return s
}

func shownWord(w word) string {
	if w.dynamic {
		return "something that cannot be determined in advance"
	}
	return shown(w.text)
}
