package path

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Target is the place on disk that a name leads to.
type Target struct {
	Path   string // absolute and clean; as far as it exists, it has no links
	Exists bool
	Dir    bool // it is a directory
}

// Error says why a name leads nowhere. The system refuses to open such a name with the same error.
type Error struct {
	Name string // as given
	At   string // the resolved path at which it ends
	Err  error  // such as [syscall.ELOOP], [fs.ErrNotExist] before "..", or [fs.ErrPermission]
}

// Error implements [error].
func (e *Error) Error() string {
	if errors.Is(e.Err, syscall.ELOOP) {
		return fmt.Sprintf("cannot resolve %q: it goes through more than %d links", e.Name, maxLinks())
	}
	return fmt.Sprintf("cannot resolve %q: %s: %v", e.Name, e.At, e.Err)
}

// Unwrap returns the error of the system.
func (e *Error) Unwrap() error { return e.Err }

// Code returns "path.loop" or "path.unresolved".
func (e *Error) Code() string {
	if errors.Is(e.Err, syscall.ELOOP) {
		return "path.loop"
	}
	return "path.unresolved"
}

var errMagic = errors.New("the link leads elsewhere in each process")

// Resolver resolves names. The zero value asks the system about each part of each name.
type Resolver struct {
	// Bases are resolved directories. Resolving a name inside one of them starts there.
	Bases []string

	// Scratch is the directory that shows under other names.
	Scratch Scratch

	// Link is called with the resolved path of each link before it is followed. Its error ends the call. May be nil.
	Link func(at string) error

	known map[string]look // answers of the system, for a Resolver that asks once
}

type look struct {
	info fs.FileInfo
	err  error
}

// Once returns a Resolver that asks the system once about each path, for many names at one moment. It must not be used concurrently.
func Once(bases ...string) *Resolver { return &Resolver{Bases: bases, known: map[string]look{}} }

// Resolve returns the path that the system would open for name; see [Resolver.Resolve].
func Resolve(name string) (string, error) {
	t, err := (&Resolver{}).Resolve(name)
	return t.Path, err
}

// Resolve returns where an absolute name leads. It follows all links, and ".." after a link is the parent of the link's target. If the
// last parts of a name do not exist, or lie below a file, they are kept, also after a link to nowhere: the system would create a file
// there. It follows no link in /proc: there, the system follows the links of the process that asks.
//
// The error is an [*Error], or that of Link. The Target then is a guess, see [Resolver.Guess].
func (r *Resolver) Resolve(name string) (Target, error) { return r.find(name, true, false) }

// Entry is Resolve for a name that will be removed or renamed: if it is a link itself, Entry does not follow it. With a separator at
// the end, it is followed, as by the system.
func (r *Resolver) Entry(name string) (Target, error) { return r.find(name, false, false) }

// Guess is Resolve for a name that a command will open later. If the system cannot open it now, the Target is the best guess: a
// directory that is missing before ".." counts as made, and nothing is followed after an error.
func (r *Resolver) Guess(name string) Target {
	t, _ := r.find(name, true, true)
	return t
}

func (r *Resolver) lstat(name string) (fs.FileInfo, error) {
	if r.known == nil {
		return os.Lstat(r.Scratch.OnDisk(name))
	}
	l, ok := r.known[name]
	if !ok {
		l.info, l.err = os.Lstat(r.Scratch.OnDisk(name))
		r.known[name] = l
	}
	return l.info, l.err
}

// walk is a name on its way down.
type walk struct {
	*Resolver
	given   string
	at      Target
	rest    string // of the name
	missing int    // parts at the end of at that do not exist
	links   int
}

func (r *Resolver) find(name string, follow, guess bool) (Target, error) {
	w := walk{Resolver: r, given: name}
	if !filepath.IsAbs(name) {
		w.at.Path = filepath.Clean(name)
		return w.fail(fs.ErrInvalid)
	}
	if lexical {
		name = filepath.Clean(name)
	}
	w.begin(name)
	for w.rest != "" {
		part, after, more := cut(w.rest)
		switch {
		case part == "" && w.at.Exists && !w.at.Dir:
			return w.fail(syscall.ENOTDIR)
		case part == "": // a separator at the end
			return w.at, nil
		case part == ".." && guess && w.missing > 0:
			w.up(after)
			continue
		case part == "." || part == "..":
			// The system looks them up as it does other names: in a directory that exists and can be entered.
			if _, err := w.lstat(w.at.Path + separator + part); err != nil {
				return w.fail(underlying(err))
			}
			if part == ".." {
				w.at.Path = filepath.Dir(w.at.Path)
			}
			w.rest = after
			continue
		}
		next := join(w.at.Path, part)
		if w.missing > 0 {
			w.at.Path, w.rest, w.missing = next, after, w.missing+1
			continue
		}
		info, err := w.lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			w.at, w.rest, w.missing = Target{Path: next}, after, 1
		case err != nil:
			return w.fail(underlying(err))
		case info.Mode()&fs.ModeSymlink == 0:
			w.at, w.rest = Target{Path: next, Exists: true, Dir: info.IsDir()}, after
		case !follow && !more:
			return Target{Path: next, Exists: true}, nil
		default:
			if err := w.link(next, after, more); err != nil {
				return w.fail(err)
			}
		}
	}
	return w.at, nil
}

// begin sets out from the nearest directory that is known to have no links.
func (w *walk) begin(name string) {
	volume := filepath.VolumeName(name)
	at, rest := volume+separator, name[len(volume):]
	for _, base := range w.Bases {
		if rel, ok := Rel(base, name); ok && len(base) > len(at) {
			at, rest = base, rel
		}
	}
	if rest == "." {
		rest = ""
	}
	w.at, w.rest = Target{Path: at, Exists: true, Dir: true}, strings.TrimLeft(rest, separator)
}

// up goes back from a missing part.
func (w *walk) up(rest string) {
	w.at.Path, w.rest = filepath.Dir(w.at.Path), rest
	if w.missing--; w.missing == 0 {
		w.at.Exists, w.at.Dir = true, true
	}
}

// link continues at the target of a link.
func (w *walk) link(at, after string, more bool) error {
	if w.links++; w.links > maxLinks() {
		return syscall.ELOOP
	}
	if magic(at) {
		return errMagic
	}
	if w.Link != nil {
		if err := w.Link(at); err != nil {
			return err
		}
	}
	target, err := os.Readlink(w.Scratch.OnDisk(at))
	if err != nil {
		return underlying(err)
	}
	if lexical {
		target = filepath.Clean(target)
	}
	if volume := filepath.VolumeName(target); filepath.IsAbs(target) {
		w.at = Target{Path: volume + separator, Exists: true, Dir: true}
		target = strings.TrimLeft(target[len(volume):], separator)
	}
	if w.rest = target; more {
		w.rest = target + separator + strings.TrimLeft(after, separator)
		if target == "" { // the root of a file system
			w.rest = strings.TrimLeft(after, separator)
		}
	}
	return nil
}

// fail ends at an error. The rest of the name is taken by its words.
func (w *walk) fail(err error) (Target, error) {
	t := Target{Path: filepath.Join(w.at.Path, w.rest)}
	return t, &Error{w.given, t.Path, err}
}

const separator = string(filepath.Separator)

// lexical reports whether the system takes ".." by its word, before it follows links.
const lexical = runtime.GOOS == "windows"

// maxLinks is how many links the system follows for one name.
func maxLinks() int {
	switch runtime.GOOS {
	case "windows":
		return 63
	case "darwin", "ios":
		return 32
	}
	return 40
}

// cut splits off the first part of a name. More reports whether a separator follows; the rest is a separator if it ends with one.
func cut(name string) (part, rest string, more bool) {
	part, rest, more = strings.Cut(name, separator)
	if rest = strings.TrimLeft(rest, separator); more && rest == "" && part != "" {
		rest = separator
	}
	return part, rest, more
}

// join is [filepath.Join] of a clean path and one part.
func join(dir, part string) string {
	if dir[len(dir)-1] == filepath.Separator {
		return dir + part
	}
	return dir + separator + part
}

func underlying(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	return err
}
