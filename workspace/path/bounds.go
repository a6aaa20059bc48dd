package path

import (
	"path/filepath"
	"slices"
)

// Bounds are the paths that work in a directory may touch: the same for tools, commands, the judge of calls, and the description that
// the model reads. A relative path starts at Root. A path need not exist.
type Bounds struct {
	Root      string   // the project; absolute
	Roots     []string // further directories that count as inside
	Readable  []string // directories outside that are read like those inside
	Writable  []string // directories that commands may write
	Hidden    []string // files and directories that may be neither read nor written
	Shown     []string // directories that may be read although they lie in hidden ones
	Protected []string // files and directories that may be read but not written
	Absent    []string // files that are protected if they exist, and that a command must not leave behind if they do not

	resolved bool
}

// Resolve returns the bounds with resolved paths. A name in Readable, Hidden, Shown, Protected or Absent stands for itself, for the link
// that it is, and for the link's target. Writable paths are made absolute only: a command can make links in what it can write, so that the sandbox decides about
// those. A path that the system refuses to open, such as a loop of links, stands for itself. Resolving resolved bounds returns them
// unchanged.
func (b Bounds) Resolve() Bounds {
	if b.resolved {
		return b
	}
	r := Once()
	if b.Root != "" {
		b.Root = r.Guess(b.Root).Path
		r.Bases = []string{b.Root}
	}
	for _, list := range []*[]string{&b.Readable, &b.Hidden, &b.Shown, &b.Protected, &b.Absent} {
		var resolved []string
		for _, name := range *list {
			given := b.absolute(name)
			at, _ := r.Entry(given)
			for _, one := range []string{at.Path, r.Guess(at.Path).Path, given} {
				if !slices.Contains(resolved, one) {
					resolved = append(resolved, one)
				}
			}
		}
		*list = resolved
	}
	b.Roots, b.Writable = slices.Clone(b.Roots), slices.Clone(b.Writable)
	for i, name := range b.Roots {
		b.Roots[i] = r.Guess(b.absolute(name)).Path
	}
	for i, name := range b.Writable {
		b.Writable[i] = b.absolute(name)
	}
	b.resolved = true
	return b
}

// absolute returns a name from the root of the bounds, clean.
func (b Bounds) absolute(name string) string {
	if !filepath.IsAbs(name) {
		return filepath.Join(b.Root, name)
	}
	return filepath.Clean(name)
}

// Inside reports whether a resolved path lies in one of the roots.
func (b Bounds) Inside(name string) bool {
	if b.Root != "" && Inside(b.Root, name) {
		return true
	}
	_, ok := In(b.Roots, name)
	return ok
}

// Secret returns the hidden path that a resolved path is or lies in, unless it lies in one that is shown and is only read.
func (b Bounds) Secret(name string, write bool) (hidden string, ok bool) {
	if hidden, ok = In(b.Hidden, name); !ok || write {
		return hidden, ok
	}
	_, shown := In(b.Shown, name)
	return hidden, !shown
}
