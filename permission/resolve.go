package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// mostLinks is how many links a path may go through, as on Linux.
const mostLinks = 40

// resolve returns where an absolute path leads, links followed as far as it exists, and whether a directory is there. What
// lies below base, which has no links, is looked at from there on.
func resolve(base, name string) (string, bool) { return resolveBy(os.Lstat, base, name) }

// lstat is [os.Lstat], or what it said.
type lstat func(name string) (os.FileInfo, error)

// lookOnce returns an [os.Lstat] that looks at each path once, for many paths at one moment.
func lookOnce() lstat {
	type answer struct {
		info os.FileInfo
		err  error
	}
	known := map[string]answer{}
	return func(name string) (os.FileInfo, error) {
		a, ok := known[name]
		if !ok {
			a.info, a.err = os.Lstat(name)
			known[name] = a
		}
		return a.info, a.err
	}
}

func resolveBy(look lstat, base, name string) (string, bool) {
	name = filepath.Clean(name)
	volume := filepath.VolumeName(name) + string(filepath.Separator)
	at, rest := volume, strings.TrimPrefix(name, volume)
	if rel, ok := below(base, name); ok && base != "" {
		at, rest = base, rel
	}
	dir := true
	for links := 0; rest != "" && rest != "."; {
		part, after, _ := strings.Cut(rest, string(filepath.Separator))
		switch part {
		case "", ".":
			rest = after
			continue
		case "..":
			at, rest = filepath.Dir(at), after
			continue
		}
		next := filepath.Join(at, part)
		info, err := look(next)
		if err != nil {
			return filepath.Join(next, after), false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at, rest, dir = next, after, info.IsDir()
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return filepath.Join(next, after), false
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
			target = strings.TrimPrefix(target, at)
		}
		rest = target + string(filepath.Separator) + after
		rest = strings.TrimSuffix(rest, string(filepath.Separator))
	}
	return at, dir
}

// below returns the path of name from dir, "." for dir itself. Both are clean.
func below(dir, name string) (string, bool) {
	if key(dir) == key(name) {
		return ".", true
	}
	separator := string(filepath.Separator)
	if !strings.HasSuffix(dir, separator) {
		dir += separator
	}
	if len(name) > len(dir) && key(name[:len(dir)]) == key(dir) {
		return name[len(dir):], true
	}
	return "", false
}

// folds reports whether the system takes upper and lower case in paths for the same.
const folds = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// key is a path as it is compared with others.
func key(name string) string {
	if folds {
		return strings.ToLower(name)
	}
	return name
}

// in reports whether a path is one of the places, or lies in one.
func in(places []string, name string) bool {
	for _, p := range places {
		if _, ok := below(p, name); ok {
			return true
		}
	}
	return false
}

// around reports whether one of the places lies below a path.
func around(places []string, name string) bool {
	for _, p := range places {
		if rel, ok := below(name, p); ok && rel != "." {
			return true
		}
	}
	return false
}
