package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Paths in a line are those of a POSIX shell; a directory given by the caller may be another system's.

// paths returns the absolute paths that a word names from each directory where the command may stand.
func (a *analyzer) paths(w word, c place) (all []string) {
	if c.remote {
		return nil
	}
	if w.dynamic {
		for _, b := range w.below {
			all = add(all, a.paths(b, c))
		}
		if len(w.below) == 0 {
			all = []string{""}
		}
		return all
	}
	p := w.text
	if w.tilde {
		rest, ok := a.home(p)
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
	for _, dir := range c.dirs {
		if dir == "" {
			return []string{""}
		}
		all = add(all, ups(strings.TrimSuffix(dir, "/")+"/"+p))
	}
	return all
}

// home replaces the ~ at the start of a path.
func (a *analyzer) home(p string) (string, bool) {
	if a.options.Home == "" || p != "~" && !strings.HasPrefix(p, "~/") || a.known("HOME") {
		return "", false
	}
	return a.options.Home + p[1:], true
}

func absolute(p string) bool { return strings.HasPrefix(p, "/") || filepath.IsAbs(p) }

// ups is a path made clean, and with it each directory below which it goes up: such a directory may be a link, and then
// the path leads elsewhere.
func ups(p string) (all []string) {
	if strings.Contains(p, "/..") {
		parts := strings.Split(p, "/")
		for i := 1; i < len(parts); i++ {
			if parts[i] == ".." && parts[i-1] != ".." && parts[i-1] != "." && parts[i-1] != "" {
				all = add(all, []string{path.Clean(strings.Join(parts[:i], "/"))})
			}
		}
	}
	return add(all, []string{path.Clean(p)})
}

// add appends what is not there yet.
func add(all, more []string) []string {
	for _, p := range more {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// enter returns the directories that going to w leads to.
func (a *analyzer) enter(w word, c place) (dirs []string) {
	if w.dynamic || w.glob || c.remote {
		return []string{""}
	}
	p := w.text
	if w.tilde {
		var ok bool
		if p, ok = a.home(p); !ok {
			return []string{""}
		}
	}
	for _, dir := range c.dirs {
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

// shown is a text for people: one line, cut when it is long.
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
		return "what is not known before it runs"
	}
	return shown(w.text)
}
