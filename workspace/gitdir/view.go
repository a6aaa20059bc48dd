package gitdir

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// View is a git directory as a command sees it. Its top level is a private copy, because git replaces the files in it, and so no mount on a name
// in it holds. Close brings back the files that cannot make git run a program, and nothing else: changes of settings and hooks never take effect
// outside the command.
type View struct {
	Path  string   // the git directory
	Dir   string   // the private directory that the command sees there
	Live  []string // names in it that are links to the real directories, writable, which show elsewhere
	Fixed []string // names in it that show the real files and directories, read-only

	root    *os.Root // also if the command moves it
	private *os.Root // the same for Dir
	base    *os.File // the directory with Dir, which this process holds
	at      fs.FileInfo
	before  map[string]copied
	config  []setting // at the start
	hash    int       // bytes of the name of an object
	index   *os.File  // the real one at the start: programs of git replace it, also where only times of files changed
	packed  *os.File  // the same of the packed references
}

// copied is a file of the private directory at the start.
type copied struct{ real, private fs.FileInfo }

// liveNames are directories in which git looks for no programs and settings.
var liveNames = []string{"objects", "refs", "logs", "reftable", "lfs"}

// NewView makes a view of a git directory. The live directories of the command are to show in the directory live, where it can make no links:
// git outside would follow them. The caller closes the view when the command has ended.
func NewView(at, live string) (v *View, err error) {
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	v = &View{Path: at, root: root, before: map[string]copied{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.close(), os.RemoveAll(filepath.Dir(v.Dir)))
		}
	}()
	if v.at, err = root.Stat("."); err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	v.Dir = filepath.Join(base, "git")
	if v.base, err = hold(base); err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(base, "path"), []byte(at), 0o600), os.Mkdir(v.Dir, 0o700))
	}
	if err != nil {
		return nil, err
	}
	if v.private, err = os.OpenRoot(v.Dir); err != nil {
		return nil, err
	}
	err = v.fill(root, v.private, ".")
	v.hash = hashSize(root)
	for _, name := range v.Live {
		err = errors.Join(err, v.private.Symlink(filepath.Join(live, name), name))
	}
	return v, err
}

// fill copies a directory, without the parts that show as they are.
func (v *View) fill(root, private *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case slices.Contains(liveNames, name) && info.IsDir():
			v.Live = append(v.Live, name)
		case info.IsDir() && (dir == "worktrees" || dir == "." && !comesBack(name)):
			v.Fixed = append(v.Fixed, name)
			err = private.Mkdir(name, 0o700)
		case name == "commondir", name == "gitdir":
			v.Fixed = append(v.Fixed, name)
			err = private.WriteFile(name, nil, 0o600)
		case info.Mode().Type() == fs.ModeSymlink: // others protect the file to which it leads
			err = v.link(root, private, name, info)
		case info.IsDir():
			if err = private.Mkdir(name, 0o777); err == nil {
				err = v.fill(root, private, name)
			}
		case strings.HasPrefix(name, "config"):
			// Programs of git rewrite it also where they change nothing.
			if err = v.take(root, private, name); err == nil && name == "config" {
				v.config, _ = v.settings(private)
			}
		case info.Mode().IsRegular() && !strings.HasSuffix(name, ".lock"):
			if err = errIndex; info.Size() <= maxIndex {
				err = v.take(root, private, name)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// link copies a link.
func (v *View) link(root, private *os.Root, name string, info fs.FileInfo) error {
	target, err := root.Readlink(name)
	if err == nil {
		err = private.Symlink(target, name)
	}
	if err != nil {
		return err
	}
	copy, err := private.Lstat(name)
	v.before[name] = copied{info, copy}
	return err
}

// settings returns those of the private directory.
func (v *View) settings(private *os.Root) ([]setting, error) {
	f, err := load(private, "config")
	if err != nil || f.lost {
		return nil, errors.Join(errSyntax, err)
	}
	return parseConfig(f.data)
}

// hashSize returns the bytes of the name of an object in a repository.
func hashSize(root *os.Root) int {
	config, err := root.ReadFile("config")
	if common, failed := root.ReadFile("commondir"); failed == nil {
		dir, _ := real(root.Name(), line(common))
		config, err = os.ReadFile(filepath.Join(dir, "config"))
	}
	all, failed := parseConfig(config)
	if err == nil && failed == nil && slices.ContainsFunc(all, func(s setting) bool { return s.key() == "extensions.objectformat" && s.value == "sha256" }) {
		return sha256.Size
	}
	return sha1.Size
}

// take copies a file to the private directory, and notes both.
func (v *View) take(root, private *os.Root, name string) (err error) {
	var c copied
	out, err := private.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if held := map[string]**os.File{"index": &v.index, packed: &v.packed}[name]; held != nil {
		if *held, err = root.OpenFile(name, os.O_RDONLY|nonblock, 0); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	if c.real, err = pour(root, name, out); err == nil {
		c.private, err = private.Lstat(name)
		v.before[name] = c
	}
	return err
}

// pour copies a regular file to an open one, with its permissions, closes that, and returns what it read.
func pour(from *os.Root, name string, out *os.File) (info fs.FileInfo, err error) {
	defer func() { err = errors.Join(err, out.Close()) }()
	in, err := from.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info, err = in.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", name))
	}
	_, err = io.Copy(out, in)
	return info, errors.Join(err, out.Chmod(info.Mode().Perm()&0o666|0o600))
}

// comesBack reports whether a file of a git directory, or a directory with all in it, may be what a command made it.
func comesBack(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	switch top {
	case "worktrees": // new ones
		_, rest, _ = strings.Cut(rest, "/")
		return rest == "" || rest == "gitdir" || rest == "commondir" || rest == "refs" || rest == "locked" || comesBack(rest) && !strings.HasPrefix(rest, "worktrees")
	case "info":
		return rest == "" || slices.Contains([]string{"exclude", "sparse-checkout", "refs"}, rest)
	case "index", packed, "shallow", "rr-cache", "rebase-merge", "rebase-apply", "sequencer", "logs", "lfs":
		return true
	}
	return plainTop().MatchString(top) || strings.HasPrefix(top, "sharedindex.")
}

// plainTop fits HEAD, MERGE_MSG and such names. None of them means settings or hooks where the system ignores case.
func plainTop() *regexp.Regexp { return regexp.MustCompile(`^(HEAD|[A-Z]+(_[A-Z]+)+)$`) }

// passing reports whether a file is a leftover of a killed git, which means nothing.
func passing(name string) bool {
	return strings.HasSuffix(name, ".lock") || slices.Contains([]string{"gc.pid", "gc.log"}, name)
}

// plain reports whether the text of a file that comes back can make git run nothing.
func (v *View) plain(name string, text []byte) bool {
	name = strings.ToLower(name) // the system can ignore case
	if rest, ok := strings.CutPrefix(name, "worktrees/"); ok {
		_, name, _ = strings.Cut(rest, "/")
		if name == "commondir" {
			return strings.TrimSpace(string(text)) == "../.."
		}
	}
	if isIndex(name) {
		return plainIndex(text, v.hash)
	}
	switch name {
	case "head":
		return regexp.MustCompile(`^(ref: refs/[^\x00-\x20\x7f]+|[0-9a-f]{40}|[0-9a-f]{64})\n?$`).Match(text) && !bytes.Contains(text, []byte(".."))
	case "rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup", "rebase-merge/done", "sequencer/todo":
		for line := range strings.Lines(string(text)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if word != "" && word[0] != '#' && !slices.Contains(strings.Fields(
				"pick p reword r edit e squash s fixup f drop d label l reset t merge m noop update-ref u break b revert"), word) {
				return false
			}
		}
	case "rebase-merge/strategy":
		return strategy(strings.TrimSpace(string(text)))
	case "sequencer/opts":
		all, err := parseConfig(text)
		return err == nil && !slices.ContainsFunc(all, func(s setting) bool { return s.name == "strategy" && !strategy(s.value) })
	}
	return true
}

// strategy reports whether git has a strategy of merging itself. Any other is a program.
func strategy(name string) bool {
	return slices.Contains([]string{"", "ort", "recursive", "resolve", "octopus", "ours", "subtree"}, name)
}

// errReplaced reports that the git directory is another one than at the start.
var errReplaced = errors.New("another directory replaced it while the command ran, in which the command could write; look at it before you use it")

// Close brings back the changes of the command and removes the private directory. It returns the changes that it left out, and whether the git
// directory is still the same, or gone: if not, the command could write in the one that came in its place.
func (v *View) Close() (left []Disarmed, same bool, err error) {
	defer func() { err = errors.Join(err, removeTree(filepath.Dir(v.Dir)), v.close()) }()
	now, err := os.Lstat(v.Path)
	same = errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(now, v.at)
	var errs []error
	if !same {
		errs = append(errs, fmt.Errorf("%s: %w", v.Path, errReplaced))
	}
	changed, wrong := v.changes(v.private)
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if wrong[unit(name)] != (Disarmed{}) {
			continue
		}
		if err := v.bring(v.private, name, changed[name]); err != nil {
			errs = append(errs, fmt.Errorf("cannot bring back the changes of the command in %s: %w", filepath.Join(v.Path, name), err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		left = append(left, wrong[name])
	}
	return left, same, errors.Join(errs...)
}

func (v *View) close() error {
	err := v.root.Close()
	if v.private != nil {
		err = errors.Join(err, v.private.Close())
	}
	for _, f := range []*os.File{v.index, v.packed, v.base} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// sameIndex reports whether the index of a directory has the entries that the real one had at the start.
func (v *View) sameIndex(root *os.Root) bool {
	if v.index == nil {
		return false
	}
	f, err := root.OpenFile("index", os.O_RDONLY|nonblock, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	before, err1 := readAll(v.index)
	now, err2 := readAll(f)
	return err1 == nil && err2 == nil && sameEntries(before, now)
}

// unit returns what comes back as a whole or not at all: a name at the top, or one worktree.
func unit(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if parts[0] == "worktrees" {
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	return parts[0]
}

const forgotten = "settings and programs of git change only within a command of the sandbox; outside it is as before. Run the command unconfined to change it"

// changes returns the files that the command changed, or removed, and the units that stay as they were, with the reason.
func (v *View) changes(private *os.Root) (changed map[string]bool, wrong map[string]Disarmed) {
	changed, wrong = map[string]bool{}, map[string]Disarmed{}
	seen := map[string]bool{}
	leave := func(name, why string) {
		wrong[unit(name)] = Disarmed{filepath.Join(v.Path, filepath.FromSlash(name)), why}
	}
	_ = fs.WalkDir(private.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == ".":
			return nil
		case slices.Contains(v.Live, name), slices.Contains(v.Fixed, name):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil:
			leave(name, "it could not be read: "+err.Error())
			return nil
		case entry.IsDir():
			if !comesBack(name) {
				leave(name, forgotten)
				return fs.SkipDir
			}
			return nil
		}
		info, err := private.Lstat(name)
		was, known := v.before[name]
		if seen[name] = true; known && err == nil && os.SameFile(info, was.private) && info.Size() == was.private.Size() && info.ModTime().Equal(was.private.ModTime()) {
			return nil
		}
		if name == "config" {
			if now, err := v.settings(private); err == nil && slices.Equal(now, v.config) {
				return nil
			}
		}
		switch {
		case name == "index" && err == nil && info.Mode().IsRegular() && v.sameIndex(private):
		case passing(name), path.Base(name) == mergeRR && err == nil && info.Size() > 0: // git records one resolution less
		case err != nil || !comesBack(name) || !info.Mode().IsRegular() || info.Size() > maxIndex:
			leave(name, forgotten)
		default:
			changed[name] = true
			if text, err := readSmall(private, name); err != nil || !v.plain(name, text) {
				leave(name, "it could make git run a program, or cannot be read, and was left out")
			}
		}
		return nil
	})
	for name := range v.before {
		if !seen[name] && comesBack(name) && name != packed {
			changed[name] = false
		} else if !seen[name] {
			leave(name, forgotten)
		}
	}
	return changed, wrong
}

func isIndex(name string) bool {
	if rest, ok := strings.CutPrefix(name, "worktrees/"); ok {
		_, name, _ = strings.Cut(rest, "/")
	}
	return name == "index" || strings.HasPrefix(name, "sharedindex.")
}

// readSmall returns the text of a file that is looked into; the others can be large.
func readSmall(root *os.Root, name string) ([]byte, error) {
	if isIndex(name) {
		return readIndex(root, name)
	}
	in := func(dir string) bool { return strings.Contains("/"+strings.ToLower(name), "/"+dir) }
	if !in("head") && !in("rebase-merge/") && !in("sequencer/") && !in("commondir") {
		return nil, nil
	}
	f, err := load(root, name)
	if err == nil && (f.lost || !f.mode.IsRegular()) {
		err = errors.New("it is too large")
	}
	return f.data, err
}

// bring puts one changed file in its place, or removes it, as git does: with a lock that only one program can have, and at one stroke.
func (v *View) bring(private *os.Root, name string, exists bool) error {
	root := v.root
	lock := name + ".lock"
	if name == packed {
		return v.bringPacked(private)
	}
	held, err := locked(root, name)
	if err != nil {
		return err
	}
	defer held.Close()
	now, err := root.Lstat(name)
	was, known := v.before[name]
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
	case name == "index" && known && err == nil && v.sameIndex(root) && exists:
		return v.install(private, name, held)
	case known != (err == nil), known && (!os.SameFile(now, was.real) || now.Size() != was.real.Size() || !now.ModTime().Equal(was.real.ModTime())):
		err = errors.New("a program outside changed it, too; its change stays")
	case !exists:
		err = errors.Join(root.Remove(name), root.Remove(lock))
		_ = root.Remove(path.Dir(name)) // only if it is empty
		return err
	default:
		return v.install(private, name, held)
	}
	return errors.Join(err, root.Remove(lock))
}

// install puts a file of the private directory in its place by way of the lock, which is open.
func (v *View) install(private *os.Root, name string, held *os.File) error {
	if _, err := pour(private, name, held); err != nil {
		return errors.Join(err, v.root.Remove(name+".lock"))
	}
	return v.root.Rename(name+".lock", name)
}

// removeTree removes the private directory, also if the command took the rights to do so away.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), filepath.Base(dir), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = root.Chmod(name, 0o700)
		}
		return nil
	})
	return root.RemoveAll(filepath.Base(dir))
}
