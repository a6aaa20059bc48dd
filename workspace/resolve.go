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

// place is a path that was judged: it lies below the root, and there were no links in it when it was looked at.
type place struct {
	root *os.Root
	rel  string // from the root, "." for the root itself
	abs  string
}

// Resolve returns the absolute path that name leads to, links followed as far as it exists. Relative names start at the root
// of the workspace. The error for a path that leads out is an [*OutsideError]. The files with the output of commands, which lie
// outside, may be read but not written.
func (w *Workspace) Resolve(name string) (string, error) {
	p, err := w.readable(name)
	return p.abs, err
}

// Rel is the path of an absolute name from the root, with slashes, for people and models. A name outside stays as it is.
func (w *Workspace) Rel(name string) string {
	if rel, ok := below(w.dir, name); ok {
		return filepath.ToSlash(rel)
	}
	return name
}

// place judges a path to be written.
func (w *Workspace) place(name string) (place, error) {
	abs, err := w.follow(name)
	if err != nil {
		return place{}, err
	}
	rel, ok := below(w.dir, abs)
	if !ok {
		return place{}, &OutsideError{Path: name, Target: abs, Dir: w.dir}
	}
	return place{w.root, rel, abs}, nil
}

// readable judges a path to be read: besides the root, the output of commands may be.
func (w *Workspace) readable(name string) (place, error) {
	p, err := w.place(name)
	if outside, ok := errors.AsType[*OutsideError](err); ok {
		if root, dir := w.outputs.root(); root != nil {
			if rel, ok := below(dir, outside.Target); ok && rel != "." {
				return place{root, rel, outside.Target}, nil
			}
		}
	}
	return p, err
}

// below is the path of name from dir, when it is dir or lies in it. Both are clean.
func below(dir, name string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

// follow makes name absolute and follows its links. What does not exist stays as it is: a link to nowhere is followed too, so
// that a file made through it is judged by its real place.
func (w *Workspace) follow(name string) (string, error) {
	name = w.unquote(name)
	if strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("the path %q has a NUL in it", name)
	}
	abs := filepath.FromSlash(name)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(w.dir, abs)
	}
	abs = filepath.Clean(abs)
	done := filepath.VolumeName(abs) + string(filepath.Separator)
	if _, ok := below(w.dir, abs); ok {
		done = w.dir // known to have no links
	}
	rest, _ := filepath.Rel(done, abs)
	for links := 0; rest != "" && rest != "."; {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(done, part)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			return filepath.Join(next, rest), nil
		case err != nil:
			return "", fmt.Errorf("%s: %w", name, errors.Unwrap(err))
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s goes through more than %d links", name, maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, errors.Unwrap(err))
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
