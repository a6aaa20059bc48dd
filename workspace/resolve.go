package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

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

// Resolve returns the absolute path to which name leads, with all links followed. Relative names start at the root of the workspace. The error
// for a path that may not be read is an [*OutsideError] or a [*HiddenError]. The files with the output of commands, which lie outside, may be
// read but not written.
//
// With [AskOutside] every path is resolved, except hidden ones; [Workspace.Permit] decides whether it may be used.
func (b *boundary) Resolve(name string) (string, error) {
	abs, err := b.follow(name)
	if err != nil {
		return "", err
	}
	return b.named(name, abs, reading)
}

// Locate is Resolve for a path that will be removed or renamed: if name is a link, it returns the path of the link. The error for a path
// that may not be written is an [*OutsideError], a [*HiddenError] or a [*ProtectedError].
func (b *boundary) Locate(name string) (string, error) {
	abs, err := b.locate(name)
	if err != nil {
		return "", err
	}
	return b.named(name, abs, writing)
}

// named judges a path that is only named, and not used.
func (b *boundary) named(name, abs string, u use) (string, error) {
	limits := b.limits.Load()
	_, scratch := limits.scratch.In(abs)
	if path, ok := limits.secret(abs, u); ok && !scratch {
		return "", &HiddenError{Path: name, Hidden: path}
	}
	if b.policy.outside == AskOutside {
		return abs, nil
	}
	p, err := b.judge(name, abs, u)
	defer p.close()
	return p.abs, err
}

// Rel returns the path of an absolute name from the root, with slashes, for people and models. A name outside stays absolute.
func (b *boundary) Rel(name string) string { return paths.Show(b.dir, name) }

// place judges a path to be written, at the place that it leads to.
func (b *boundary) place(name string) (place, error) {
	abs, err := b.follow(name)
	if err != nil {
		return place{}, err
	}
	return b.judge(name, abs, writing)
}

// entry judges a path to be removed or renamed: a link is not followed.
func (b *boundary) entry(name string) (place, error) {
	abs, err := b.locate(name)
	if err != nil {
		return place{}, err
	}
	return b.judge(name, abs, writing)
}

// readable judges a path to be read: besides the roots, the output of commands may be.
func (b *boundary) readable(name string) (place, error) {
	abs, err := b.follow(name)
	if err != nil {
		return place{}, err
	}
	return b.judge(name, abs, reading)
}

// judge finds the tree of a resolved path, if it may be reached.
func (b *boundary) judge(name, abs string, u use) (place, error) {
	limits := b.limits.Load()
	at, scratch := limits.scratch.In(abs)
	if path, ok := limits.secret(abs, u); ok && !scratch {
		return place{}, &HiddenError{Path: name, Hidden: path}
	}
	if b.policy.refuse != nil && u == reading {
		if err := b.policy.refuse(abs); err != nil {
			return place{}, fmt.Errorf("%s: %w", Quote(name), err)
		}
	}
	if path, ok := paths.In(limits.bounds.Protected, abs); ok && u == writing && !b.permits.has(abs, u) {
		return place{}, &ProtectedError{Path: name, Protected: path}
	}
	for _, t := range b.roots {
		if rel, ok := paths.Rel(t.dir, abs); ok {
			return place{tree: t, rel: rel, abs: abs}, nil
		}
	}
	if scratch {
		root, err := b.scratch.in(limits.scratch.Dir)
		rel, _ := paths.Rel(at, abs)
		return place{tree: tree{at, root}, rel: rel, abs: abs}, err
	}
	if u == reading {
		if t, ok := b.outputs.tree(abs); ok {
			rel, _ := paths.Rel(t.dir, abs)
			return place{tree: t, rel: rel, abs: abs}, nil
		}
	}
	if b.policy.allows(u) || b.permits.has(abs, u) {
		return b.outside(name, abs)
	}
	return place{}, &OutsideError{Path: name, Target: abs, Dir: b.dir}
}

// outside opens the directory that a path outside all roots lies in, or the nearest that exists. It goes down from the root of
// the file system and through no link, so that the place is the one that was judged, whatever is moved meanwhile.
func (b *boundary) outside(name, abs string) (place, error) {
	top := filepath.VolumeName(abs) + string(filepath.Separator)
	root, err := os.OpenRoot(top)
	if err != nil {
		return place{}, b.tell(name, err)
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
			return place{}, b.tell(name, err)
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
		root, err = os.OpenRoot(dir) // it may be entered, but not listed: only its owner can move its files
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

// absolute returns a name from the root of the workspace. It is not clean: ".." after a link is for [paths.Resolve].
func (b *boundary) absolute(name string) (string, error) {
	name = b.unquote(name)
	if strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("the path %q contains a NUL byte", name)
	}
	abs := filepath.FromSlash(name)
	if !filepath.IsAbs(abs) {
		abs = b.dir + string(filepath.Separator) + abs
	}
	return abs, nil
}

// locate follows the links on the way to a name, but not the name itself.
func (b *boundary) locate(name string) (string, error) {
	return b.resolve(name, (*paths.Resolver).Entry)
}

// follow makes name absolute and follows its links. What does not exist stays: a link to nowhere is followed too, so that a file made
// through it is judged by its real path.
func (b *boundary) follow(name string) (string, error) {
	return b.resolve(name, (*paths.Resolver).Resolve)
}

func (b *boundary) resolve(name string, how func(*paths.Resolver, string) (paths.Target, error)) (string, error) {
	abs, err := b.absolute(name)
	if err != nil {
		return "", err
	}
	r := b.resolver
	r.Scratch = b.limits.Load().scratch
	t, err := how(&r, abs)
	if failed, ok := errors.AsType[*paths.Error](err); ok {
		failed.Name = name
	}
	return t.Path, err
}
