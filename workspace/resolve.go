package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links a path may go through, as on Linux.
const maxLinks = 40

// place is a path that was judged: it lies in a tree, and there were no links in it when it was looked at.
type place struct {
	tree
	rel  string // from the root of the tree, "." for the root itself
	abs  string
	ours bool // the tree was opened for this place alone
}

// close releases what was opened for the place.
func (p place) close() {
	if p.ours {
		p.root.Close()
	}
}

// Resolve returns the absolute path that name leads to, links followed as far as it exists. Relative names start at the root
// of the workspace. The error for a path that may not be read is an [*OutsideError] or a [*HiddenError]. The files with the output
// of commands, which lie outside, may be read but not written.
//
// With [AskOutside] every path has a place but for hidden ones; whether it may be used is for [Workspace.Permit].
func (w *Workspace) Resolve(name string) (string, error) {
	abs, err := w.follow(name)
	if err != nil {
		return "", err
	}
	return w.named(name, abs, reading)
}

// Locate is Resolve for what is to be removed or renamed: when name is a link, it is the place of the link. The error for a path
// that may not be written is an [*OutsideError], a [*HiddenError] or a [*ProtectedError].
func (w *Workspace) Locate(name string) (string, error) {
	abs, err := w.locate(name)
	if err != nil {
		return "", err
	}
	return w.named(name, abs, writing)
}

// named judges a path that is to be known, and not yet used.
func (w *Workspace) named(name, abs string, u use) (string, error) {
	if path, ok := w.policy.secret(abs, u); ok {
		return "", &HiddenError{Path: name, Hidden: path}
	}
	if w.policy.outside == AskOutside {
		return abs, nil
	}
	p, err := w.judge(name, abs, u)
	defer p.close()
	return p.abs, err
}

// Rel is the path of an absolute name from the root, with slashes, for people and models. A name outside stays as it is.
func (w *Workspace) Rel(name string) string {
	if rel, ok := below(w.dir, name); ok {
		return filepath.ToSlash(rel)
	}
	return name
}

// place judges a path to be written, at the place that it leads to.
func (w *Workspace) place(name string) (place, error) {
	abs, err := w.follow(name)
	if err != nil {
		return place{}, err
	}
	return w.judge(name, abs, writing)
}

// entry judges a path to be removed or renamed: a link is not followed.
func (w *Workspace) entry(name string) (place, error) {
	abs, err := w.locate(name)
	if err != nil {
		return place{}, err
	}
	return w.judge(name, abs, writing)
}

// readable judges a path to be read: besides the roots, the output of commands may be.
func (w *Workspace) readable(name string) (place, error) {
	abs, err := w.follow(name)
	if err != nil {
		return place{}, err
	}
	return w.judge(name, abs, reading)
}

// judge finds the tree of a resolved path, if it may be reached.
func (w *Workspace) judge(name, abs string, u use) (place, error) {
	if path, ok := w.policy.secret(abs, u); ok {
		return place{}, &HiddenError{Path: name, Hidden: path}
	}
	if w.policy.refuse != nil && u == reading {
		if err := w.policy.refuse(abs); err != nil {
			return place{}, fmt.Errorf("%s: %w", Quote(name), err)
		}
	}
	if path, ok := in(w.policy.protected, abs); ok && u == writing && !w.permits.has(abs, u) {
		return place{}, &ProtectedError{Path: name, Protected: path}
	}
	for _, t := range w.roots {
		if rel, ok := below(t.dir, abs); ok {
			return place{tree: t, rel: rel, abs: abs}, nil
		}
	}
	if root, dir := w.outputs.root(); root != nil && u == reading {
		if rel, ok := below(dir, abs); ok && rel != "." {
			return place{tree: tree{dir, root}, rel: rel, abs: abs}, nil
		}
	}
	if w.policy.allows(u) || w.permits.has(abs, u) {
		return w.outside(name, abs)
	}
	return place{}, &OutsideError{Path: name, Target: abs, Dir: w.dir}
}

// outside opens the directory that a path outside all roots lies in, or the nearest that exists. It goes down from the root of
// the file system and through no link, so that the place is the one that was judged, whatever is moved meanwhile.
func (w *Workspace) outside(name, abs string) (place, error) {
	top := filepath.VolumeName(abs) + string(filepath.Separator)
	root, err := os.OpenRoot(top)
	if err != nil {
		return place{}, w.tell(name, err)
	}
	p := place{tree: tree{top, root}, abs: abs, ours: true}
	rest, _ := filepath.Rel(top, abs)
	for {
		part, more, found := strings.Cut(rest, string(filepath.Separator))
		if !found {
			break // the last one is opened through its parent
		}
		next, err := p.enter(part)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDirectory) {
			break
		}
		if err != nil {
			p.close()
			return place{}, w.tell(name, err)
		}
		p.close()
		p.tree, rest = next, more
	}
	p.rel = rest
	return p, nil
}

var (
	errNoDirectory = errors.New("not a directory")
	errMoved       = errors.New("it was moved while it was opened; try again")
)

// enter opens a directory of a tree that is no link.
func (t tree) enter(name string) (tree, error) {
	dir := filepath.Join(t.dir, name)
	before, err := t.root.Lstat(name)
	switch {
	case err != nil:
		return tree{}, err
	case before.Mode()&fs.ModeSymlink != 0:
		return tree{}, &fs.PathError{Op: "open", Path: dir, Err: errMoved}
	case !before.IsDir():
		return tree{}, errNoDirectory
	}
	root, err := t.root.OpenRoot(name)
	if errors.Is(err, fs.ErrPermission) {
		root, err = os.OpenRoot(dir) // it may be entered, but not listed: nobody but its owner can move what is in it
	}
	if err != nil {
		return tree{}, err
	}
	after, err := root.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = &fs.PathError{Op: "open", Path: dir, Err: errMoved}
	}
	if err != nil {
		root.Close()
		return tree{}, err
	}
	return tree{dir, root}, nil
}

// below is the path of name from dir, when it is dir or lies in it. Both are clean.
func below(dir, name string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

// absolute is a name from the root of the workspace, clean.
func (w *Workspace) absolute(name string) (string, error) {
	name = w.unquote(name)
	if strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("the path %q has a NUL in it", name)
	}
	abs := filepath.FromSlash(name)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(w.dir, abs)
	}
	return filepath.Clean(abs), nil
}

// locate follows the links on the way to a name, but not the name itself.
func (w *Workspace) locate(name string) (string, error) { return w.locateBy(os.Lstat, name) }

func (w *Workspace) locateBy(look lstat, name string) (string, error) {
	abs, err := w.absolute(name)
	if err != nil {
		return "", err
	}
	dir, err := w.followFrom(look, name, filepath.Dir(abs))
	if err != nil || abs == filepath.Dir(abs) {
		return dir, err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// follow makes name absolute and follows its links. What does not exist stays as it is: a link to nowhere is followed too, so
// that a file made through it is judged by its real place.
func (w *Workspace) follow(name string) (string, error) {
	abs, err := w.absolute(name)
	if err != nil {
		return "", err
	}
	return w.followFrom(os.Lstat, name, abs)
}

// lstat is [os.Lstat], or what it said.
type lstat func(name string) (fs.FileInfo, error)

// lookOnce returns an [os.Lstat] that looks at each path once, for many paths at one moment.
func lookOnce() lstat {
	type answer struct {
		info fs.FileInfo
		err  error
	}
	known := map[string]answer{}
	return func(name string) (fs.FileInfo, error) {
		a, ok := known[name]
		if !ok {
			a.info, a.err = os.Lstat(name)
			known[name] = a
		}
		return a.info, a.err
	}
}

// followFrom is follow for a path that is absolute and clean, which name stood for.
func (w *Workspace) followFrom(look lstat, name, abs string) (string, error) {
	done := filepath.VolumeName(abs) + string(filepath.Separator)
	for _, t := range w.roots {
		if _, ok := below(t.dir, abs); ok {
			done = t.dir // known to have no links
			break
		}
	}
	rest, _ := filepath.Rel(done, abs)
	for links := 0; rest != "" && rest != "."; {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(done, part)
		info, err := look(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			return filepath.Join(next, rest), nil
		case err != nil:
			return "", fmt.Errorf("%s: %w", Quote(name), errors.Unwrap(err))
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s goes through more than %d links", Quote(name), maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("%s: %w", Quote(name), errors.Unwrap(err))
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(done, target) // done has no links: .. in the target means its parent
		}
		target = filepath.Join(target, rest)
		done = filepath.VolumeName(target) + string(filepath.Separator)
		rest, _ = filepath.Rel(done, target)
	}
	return done, nil
}
