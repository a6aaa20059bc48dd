package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// paths fills in the places of a policy as they are now.
func (s *view) paths(p *Policy, c *Confined) error {
	s.Writes = resolved(p.Writable, p.Writable)
	for _, dir := range s.Writes { // of a worktree, in the git directory of its repository
		if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "HEAD")); err == nil && slices.Contains([]string{"objects", "refs", "logs"}, filepath.Base(dir)) {
			s.Plain = append(s.Plain, dir)
		}
	}
	s.homes(p)
	c.homes = s.Homes
	s.show(p)
	for _, v := range p.Views {
		if s.writable(v.Path) != "" { // it is not, if only a part of the workspace is
			s.Views = append(s.Views, v)
		}
	}
	if p.Temp != "" {
		err := os.MkdirAll(p.Temp, 0o700)
		if err == nil {
			s.Temp, err = filepath.EvalSymlinks(p.Temp)
		}
		if err != nil {
			return fmt.Errorf("the directory for temporary files: %w", err)
		}
		if s.Temps = p.Scratch().Names; s.Temps[0] == p.Temp {
			s.Temps, s.Writes = nil, append(s.Writes, s.Temp)
		}
	}
	if err := s.cache(p, c); err != nil {
		return err
	}
	if err := s.hide(p.Hidden, c); err != nil {
		return err
	}
	protected := slices.Clone(p.Protected)
	for _, path := range p.Absent {
		if s.viewed(path) != "" {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			c.kept = append(c.kept, path)
		} else {
			protected = append(protected, path)
		}
	}
	c.guarded = map[string]fs.FileInfo{}
	for _, path := range protected {
		if info, err := os.Lstat(path); err == nil && s.writable(path) != "" && s.viewed(path) == "" && !IsCover(path, info.Mode()) {
			c.guarded[path] = info
		}
		if err := s.protect(filepath.Clean(path), c, true); err != nil {
			return fmt.Errorf("%s cannot be protected: %w", path, err)
		}
	}
	for _, list := range []*[]string{&s.Writes, &s.Hides, &s.Empties, &s.Keeps, &s.Pins} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	seen := func(path string) bool { return s.viewed(path) != "" }
	s.Keeps, s.Pins = slices.DeleteFunc(s.Keeps, seen), slices.DeleteFunc(s.Pins, seen)
	s.Writes = slices.DeleteFunc(s.Writes, func(path string) bool { return s.viewed(path) == path })
	s.Pins = slices.DeleteFunc(s.Pins, func(pin string) bool { return slices.Contains(s.Writes, pin) || slices.Contains(s.Keeps, pin) })
	return nil
}

// viewed returns the directory with a view that a path is or lies in.
func (s *view) viewed(path string) string {
	for _, v := range s.Views {
		if paths.Inside(v.Path, path) {
			return v.Path
		}
	}
	return ""
}

// homes finds the directories that show as empty ones. One that is a writable tree, or contains the root of one that is a work tree of
// its own, stays as it is.
func (s *view) homes(p *Policy) {
	for _, home := range resolved(p.Homes, p.Writable) {
		if s.writable(home) == "" && home != "/" && !slices.Contains(coveredPlaces[:], home) && !slices.Contains(s.Homes, home) {
			s.Homes = append(s.Homes, home)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Files)) {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && s.home(dir) {
			s.Files = append(s.Files, file{filepath.Join(dir, filepath.Base(path)), p.Files[path]})
		}
	}
}

// home reports whether a path lies in a directory that shows as an empty one.
func (s *view) home(path string) bool {
	_, ok := paths.In(s.Homes, path)
	return ok
}

// show finds the trees that show in covered places. In a home, where links do not show, a tree that is a link, or lies behind one,
// shows at the path of the link.
func (s *view) show(p *Policy) {
	seen := map[string]bool{}
	for _, path := range p.Readable {
		if _, err := os.Lstat(path); err != nil {
			continue // most toolchains are missing, and following links takes a call for each part of a path
		}
		for _, from := range resolved([]string{path}, p.Writable) {
			at := from
			for _, home := range p.Homes {
				if real := followed(home); slices.Contains(s.Homes, real) && paths.Inside(home, path) && path != home {
					rel, _ := paths.Rel(home, path)
					at = filepath.Join(real, rel)
				}
			}
			leads := at != from && paths.Holds(filepath.Dir(from), s.Homes) // a link in a home to what has the home in it
			if !seen[at] && !leads && !slices.Contains(s.Homes, at) && s.writable(at) == "" {
				seen[at] = true
				s.Shows = append(s.Shows, show{at, from})
			}
		}
	}
	s.Shows = slices.DeleteFunc(s.Shows, func(w show) bool { return s.home(w.Path) && s.shows(w.Path, p.Hidden) })
}

// shows reports whether a tree shows as a part of another one, with nothing hidden between them.
func (s *view) shows(path string, hidden []string) bool {
	return slices.ContainsFunc(s.Shows, func(o show) bool {
		return o.Path != path && paths.Inside(o.Path, path) && !slices.Contains(s.Homes, o.Path) && s.home(o.Path) &&
			!slices.ContainsFunc(hidden, func(h string) bool { return paths.Inside(o.Path, h) && paths.Inside(h, path) })
	})
}

// cache makes the directory for caches. Where it cannot be made, as in a home that is read only, they are temporary files, if the command
// has a place of its own for these.
func (s *view) cache(p *Policy, c *Confined) error {
	if p.Caches == "" {
		return nil
	}
	err := os.MkdirAll(p.Caches, 0o700)
	switch {
	case err == nil:
		s.Caches = p.Caches
		s.Writes = append(s.Writes, resolved([]string{p.Caches}, p.Writable)...)
	case s.Level == Namespaces:
		c.Gaps = append(c.Gaps, fmt.Sprintf("caches last no longer than temporary files: %v; XDG_CACHE_HOME can name another place", err))
	default:
		return fmt.Errorf("the directory for caches: %w; XDG_CACHE_HOME can name another place", err)
	}
	return nil
}

// hide covers secrets. Where they lie in a writable tree, what leads to them stays as it is: with another name, the next command
// would find them uncovered.
func (s *view) hide(places []string, c *Confined) error {
	for _, path := range places {
		if _, err := os.Lstat(path); err != nil {
			continue // most of them, and following links takes a call for each part of a path
		}
		if s.home(path) && !s.shown(path) {
			continue
		}
		if err := s.protect(filepath.Clean(path), c, false); err != nil {
			return fmt.Errorf("%s cannot be hidden: %w", path, err)
		}
		if path, err := filepath.EvalSymlinks(path); err == nil {
			if info, err := os.Stat(path); err == nil && !info.IsDir() && openedAlways(path) {
				s.Empties = append(s.Empties, path)
			} else {
				s.Hides = append(s.Hides, path)
			}
		}
	}
	return nil
}

// openedAlways reports whether programs read a file at every start, and would fail if they could not.
func openedAlways(path string) bool {
	return slices.Contains([]string{
		".npmrc", ".yarnrc.yml", ".netrc", "pip.conf", "credentials", "credentials.toml", "auth.json", "config.json",
		"gradle.properties", "NuGet.Config", ".terraformrc", ".bash_history", ".zsh_history", ".python_history", ".claude.json",
	}, filepath.Base(path))
}

// protect makes a path inside a writable tree read only. The directories above it are pinned: renamed, they would take the
// protected ones along and make room for others. A link on the way is kept, and its target is protected. For a missing path, its first
// missing directory is made and kept empty. Without keep, only the way to the path is protected.
func (s *view) protect(path string, c *Confined, keep bool) error {
	r := paths.Resolver{Link: func(at string) error {
		if root := s.writable(at); root != "" {
			s.pin(root, filepath.Dir(at))
			s.Keeps = append(s.Keeps, at)
		}
		return nil
	}}
	t, err := r.Resolve(path)
	root := s.writable(t.Path)
	if err != nil || root == "" {
		if root == "" {
			return nil // no command can change it, nor that it cannot be resolved
		}
		return err
	}
	at := root
	rel, _ := paths.Rel(root, t.Path)
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && IsCover(at, info.Mode()): // one of another command goes when that ends
			if !keep || s.viewed(at) != "" {
				return nil
			}
			return s.keepMissing(at, c)
		case err != nil:
			return err
		case at == t.Path:
			if keep {
				s.Keeps = append(s.Keeps, at)
			}
		case !info.IsDir():
			s.Keeps = append(s.Keeps, at)
			return nil
		default:
			s.Pins = append(s.Pins, at)
		}
	}
	return nil
}

// writable returns the nearest writable tree that a path lies in; empty: none.
func (s *view) writable(path string) (root string) {
	for _, w := range s.Writes {
		if paths.Inside(w, path) && len(w) > len(root) {
			root = w
		}
	}
	return root
}

// pin pins a directory and those above it, up to a root.
func (s *view) pin(root, dir string) {
	for ; dir != root && paths.Inside(root, dir); dir = filepath.Dir(dir) {
		s.Pins = append(s.Pins, dir)
	}
}

func (s *view) keepMissing(path string, c *Confined) error {
	if s.Level != Namespaces {
		return nil
	}
	made, err := newCover(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return s.keepUnwritable(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	c.covers = append(c.covers, made)
	s.Keeps = append(s.Keeps, path)
	return nil
}

// keepUnwritable takes care of a directory in which nothing can be made. A command cannot either, unless its user owns the
// directory and changes its mode: then all of it is kept as it is.
func (s *view) keepUnwritable(dir string) error {
	var info unix.Stat_t
	if err := unix.Stat(dir, &info); err != nil {
		return err
	}
	if int(info.Uid) == os.Geteuid() {
		s.Keeps = append(s.Keeps, dir)
	}
	return nil
}

// covered is what no outer socket is visible in anyway.
var coveredPlaces = [...]string{"/tmp", "/var/tmp", "/run", "/var/run", "/dev"}

// sockets hides those that others listen on now, on paths that show inside: a connection needs no right to write the file, so
// a read-only tree does not keep anyone from a daemon.
func (s *view) sockets(c *Confined) error {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 8)
		if len(fields) < 8 {
			continue
		}
		path := strings.TrimSpace(fields[7])
		if !filepath.IsAbs(path) || (s.home(path) || slices.ContainsFunc(coveredPlaces[:], func(dir string) bool { return paths.Inside(dir, path) })) && !s.shown(path) {
			continue
		}
		if path, err := filepath.EvalSymlinks(path); err == nil {
			s.Hides, c.sockets = append(s.Hides, path), append(c.sockets, path)
		}
	}
	slices.Sort(s.Hides)
	s.Hides = slices.Compact(s.Hides)
	return lines.Err()
}

// shown reports whether a path in a covered place shows nevertheless.
func (s *view) shown(path string) bool {
	in := func(dir string) bool { return paths.Inside(dir, path) }
	return slices.ContainsFunc(s.Writes, in) || slices.ContainsFunc(s.Shows, func(w show) bool { return in(w.Path) || in(w.From) })
}
