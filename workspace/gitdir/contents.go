package gitdir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// contents is the part of a git directory that makes git execute programs, and the other directories that it names.
type contents struct {
	info  fs.FileInfo     // of the directory
	stamp string          // of the files that only people change
	files map[string]file // those that can run something, by name within it: config, hooks/pre-commit

	worktree string   // as its settings say
	common   string   // the directory that it shares most with, as commondir says
	back     string   // the .git of a linked worktree, as gitdir says
	remotes  []string // addresses that are paths
	rerere   string   // files that git copies with the next commit, as MERGE_RR says
}

// file is a file that can make git run something.
type file struct {
	mode   fs.FileMode
	data   []byte // the content, or the target of a link
	lost   bool   // it could not be kept: it is too large, or not a file
	steers string // the part that can execute something, or leads to such a file; empty: nothing
	names  string // the same for a person
}

const (
	maxKept    = 1 << 20  // size of the largest file that the guard restores
	maxTotally = 64 << 20 // size of all files that it restores
)

// mergeRR lists files whose contents git copies to rr-cache when a person commits, through links too: those of a command could be secret ones,
// which the next command would read there.
const mergeRR = "MERGE_RR"

// reader reads git directories. inside reports whether a path lies in the trees that are guarded.
type reader struct {
	inside func(path string) bool
	kept   *int // bytes so far
}

// bound drops the content of a file if there are too many. It comes after all looks at the content.
func (r reader) bound(f *file) {
	if *r.kept += len(f.data); *r.kept > maxTotally {
		f.data, f.lost = nil, true
	}
}

// read reads a directory, which lies at a path.
func (r reader) read(root *os.Root, at string) (contents, error) {
	info, err := root.Stat(".")
	if err != nil {
		return contents{}, err
	}
	c := contents{info: info, files: map[string]file{}}
	for _, name := range []string{"config", "config.worktree"} {
		f, err := load(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		r.settings(&f, &c, at)
		r.bound(&f)
		c.files[name] = f
	}
	if f, err := load(root, "commondir"); !errors.Is(err, fs.ErrNotExist) {
		c.common, _ = real(at, line(f.data))
		if f.lost || !f.mode.IsRegular() || filepath.Dir(filepath.Dir(at)) != c.common || !r.inside(c.common) {
			f.steers, f.names = "to "+string(f.data), "commondir, which leads to other settings"
		}
		c.files["commondir"] = f
	}
	if f, err := load(root, "gitdir"); err == nil && f.mode.IsRegular() {
		c.back, _ = real(at, line(f.data))
	}
	if f, err := load(root, mergeRR); err == nil {
		c.rerere = fmt.Sprintf("%v %x", f.mode.Type(), sha256.Sum256(f.data))
	}
	return c, r.hooks(root, c.files)
}

// stamp returns a text that changes if a person changes the files that control git in a directory.
func stamp(root *os.Root) (stamp string) {
	for _, name := range []string{"config", "hooks"} {
		if info, err := root.Lstat(name); err == nil {
			stamp += fmt.Sprintf("%d %d;", info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}

// settings finds the settings that make git execute something.
func (r reader) settings(f *file, c *contents, at string) {
	all, err := parseConfig(f.data)
	if f.lost || !f.mode.IsRegular() || err != nil {
		f.steers, f.names = "unreadable "+string(f.data), "settings that cannot be read with certainty"
		return
	}
	var steers, names []string
	for _, s := range all {
		switch {
		case s.key() == "core.worktree":
			c.worktree, _ = real(at, s.value)
		case s.key() == "remote.*.url", s.key() == "remote.*.pushurl", s.key() == "branch.*.remote":
			if path, ok := localURL(s.value); ok {
				c.remotes = append(c.remotes, path)
			}
		}
		if !r.allows(s, at) {
			steers, names = append(steers, s.String()), append(names, s.String())
		}
	}
	f.steers, f.names = strings.Join(steers, "\n"), strings.Join(names, ", ")
}

// allows reports whether a setting may stay. A worktree may, as long as it is in the guarded trees: a checkout writes there.
func (r reader) allows(s setting, at string) bool {
	if s.key() != "core.worktree" {
		return s.harmless()
	}
	place, ok := real(at, s.value)
	return ok && r.inside(place)
}

// clean returns a file of settings without those that make git execute something.
func (r reader) clean(f file, at string) []byte {
	all, err := parseConfig(f.data)
	if err != nil || f.lost || !f.mode.IsRegular() {
		return nil
	}
	var rest []setting
	for _, s := range all {
		if r.allows(s, at) {
			rest = append(rest, s)
		}
	}
	return writeConfig(rest)
}

// hooks adds the hooks that git would run.
func (r reader) hooks(root *os.Root, files map[string]file) error {
	info, err := root.Lstat("hooks")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		f, err := load(root, "hooks")
		if f.steers, f.names = "link "+string(f.data), "hooks, which is a link"; info.Mode().Type() == fs.ModeSymlink && err == nil {
			files["hooks"] = f
		}
		return nil
	}
	dir, err := root.Open("hooks")
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	for _, entry := range entries {
		name := path.Join("hooks", entry.Name())
		if entry.IsDir() || strings.HasSuffix(name, ".sample") {
			continue
		}
		f, err := load(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !f.mode.IsRegular() || f.mode.Perm()&0o111 != 0 || runtime.GOOS == "windows" {
			f.steers, f.names = fmt.Sprintf("%v %x", f.mode, sha256.Sum256(f.data)), name
		}
		r.bound(&f)
		files[name] = f
	}
	return err
}

// load reads a regular file of a directory. If it cannot read the file, the file is lost; the only error is that it does not exist.
func load(root *os.Root, name string) (file, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, err
	}
	if err != nil {
		return file{lost: true, data: []byte(err.Error())}, nil
	}
	f := file{mode: info.Mode()}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		f.data, f.lost = []byte(target), err != nil
		return f, nil
	case !info.Mode().IsRegular() || info.Size() > maxKept:
		f.lost, f.data = true, fmt.Appendf(nil, "%v %d %v", info.Mode(), info.Size(), info.ModTime())
		return f, nil
	}
	opened, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err == nil {
		defer opened.Close()
		f.data, err = io.ReadAll(io.LimitReader(opened, maxKept+1))
	}
	if err != nil || len(f.data) > maxKept {
		f.lost = true
	}
	return f, nil
}

// line returns the path in a file that has nothing else.
func line(data []byte) string { return strings.TrimRight(string(data), "\r\n") }

// real resolves a path that a file in a directory has. A missing path is resolved as far as it exists. It is not known if a link on the way
// leads nowhere, or the system refuses the path.
func real(dir, name string) (path string, ok bool) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", false
	}
	path = filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = dir + string(filepath.Separator) + path // not cleaned: .. after a link is the parent of its target
	}
	var links []string
	r := paths.Resolver{Link: func(at string) error { links = append(links, at); return nil }}
	t, err := r.Resolve(path)
	if err != nil {
		return "", false
	}
	for _, link := range links {
		if _, err := os.Stat(link); err != nil {
			return "", false
		}
	}
	return t.Path, true
}
