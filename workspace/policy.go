package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
)

// policy says which paths may be reached. Its lists have resolved absolute paths.
type policy struct {
	outside   Outside
	refuse    func(name string) error
	hidden    []string
	shown     []string
	protected []string
	unseen    map[string][]string // names of what is hidden, by directory: what a walk leaves out
}

func (w *Workspace) newPolicy(o Options) (policy, error) {
	p := policy{outside: o.Outside, refuse: o.Refuse, unseen: map[string][]string{}}
	look := lookOnce() // most of the names lie in the same few directories
	var err error
	if p.hidden, err = w.both(look, o.Hidden); err != nil {
		return p, err
	}
	if p.shown, err = w.both(look, o.Shown); err != nil {
		return p, err
	}
	if p.protected, err = w.both(look, o.Protected); err != nil {
		return p, err
	}
	for _, name := range p.hidden {
		dir := key(filepath.Dir(name))
		p.unseen[dir] = append(p.unseen[dir], filepath.Base(name))
	}
	return p, nil
}

// both makes names absolute. A link stands for itself and for what it leads to.
func (w *Workspace) both(look lstat, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		at, err := w.locateBy(look, name)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
		if info, err := look(at); err == nil && info.Mode()&fs.ModeSymlink == 0 || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		target, err := w.followFrom(look, name, at)
		if err != nil {
			return nil, err
		}
		if target != at {
			out = append(out, target)
		}
	}
	return out, nil
}

// in is the one of the paths that name is or lies in.
func in(paths []string, name string) (string, bool) {
	name = key(name)
	for _, path := range paths {
		if _, ok := below(key(path), name); ok {
			return path, true
		}
	}
	return "", false
}

// secret is the hidden place that a path is or lies in, unless it may be read there.
func (p *policy) secret(abs string, u use) (string, bool) {
	hidden, ok := in(p.hidden, abs)
	if !ok {
		return "", false
	}
	_, shown := in(p.shown, abs)
	return hidden, !shown || u == writing
}

// leaves reports whether a walk leaves out an entry of a directory.
func (p *policy) leaves(dir, name string) bool {
	return p.hides(dir, name) || p.refuse != nil && p.refuse(filepath.Join(dir, name)) != nil
}

// hides reports whether an entry of a directory is hidden.
func (p *policy) hides(dir, name string) bool {
	if len(p.hidden) == 0 {
		return false
	}
	for _, hidden := range p.unseen[key(dir)] {
		if key(hidden) == key(name) {
			return true
		}
	}
	return false
}

// key is a path as it is compared with others: where the system takes upper and lower case for the same, so does the policy.
func key(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(name)
	}
	return name
}
