package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Store has the copies of a person's projects. Several processes may use one.
type Store struct {
	Private string // directory of the bases, absolute: no command in a copy may reach it
	Files   string // directory of the copies, absolute, not in Private
}

// Worktree is one copy.
type Worktree struct {
	Name    string    `json:"name"`
	Root    string    `json:"root"`            // of the project, absolute: the directory of its repository
	Sub     string    `json:"sub,omitzero"`    // the directory of the work, relative to Root
	Owner   string    `json:"owner,omitzero"`  // the session that made it
	Base    string    `json:"base"`            // hash of the tree at the start
	Commit  string    `json:"commit,omitzero"` // checked out at the start; empty: the project has no repository, or no commits
	Created time.Time `json:"created"`

	store Store
}

// ErrNotFound reports that there is no copy with a name.
var ErrNotFound error = &coded{"worktree.not_found", "there is no such worktree"}

// ErrTooLarge reports that a directory without a repository is too large to copy.
var ErrTooLarge error = &coded{"worktree.too_large", "cannot copy the project: it has more than 100,000 files or 2 GB, and is not a git repository"}

type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// Code returns the code of the error.
func (e *coded) Code() string { return e.code }

// The names in the private directory of a copy.
const (
	infoName = "worktree.json"
	baseName = "base.git"
)

// Dir returns the directory of the work in the copy.
func (w *Worktree) Dir() string { return filepath.Join(w.top(), filepath.FromSlash(w.Sub)) }

// top is the directory of the copy that stands for Root.
func (w *Worktree) top() string { return filepath.Join(w.store.Files, w.Name) }

// Objects returns the directory in the repository of the project that has the objects of the copy's history, which git in the copy reads.
// There is none without a repository.
func (w *Worktree) Objects() []string {
	text, err := os.ReadFile(filepath.Join(w.private(), baseName, "objects", "info", "alternates"))
	if err != nil {
		return nil
	}
	return []string{strings.TrimSpace(string(text))}
}

func (w *Worktree) private() string { return filepath.Join(w.store.Private, w.Name) }

// git is the private git directory of the copy, with an index that the caller made.
func (w *Worktree) git(files, index string) git {
	return git{dir: filepath.Join(w.private(), baseName), files: files, index: index}
}

// valid reports whether a text can be the name of a copy.
func valid(name string) bool {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
	return name != "" && len(name) <= 100 && plain
}

// Open returns a copy.
func (s Store) Open(name string) (*Worktree, error) {
	if !valid(name) {
		return nil, fmt.Errorf("%q: %w", name, ErrNotFound)
	}
	data, err := os.ReadFile(filepath.Join(s.Private, name, infoName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	w := &Worktree{store: s}
	if err := json.Unmarshal(data, w); err != nil || w.Name != name {
		return nil, fmt.Errorf("%s: cannot read its description: %w", name, errors.Join(err, ErrNotFound))
	}
	return w, nil
}

// List returns the copies, the newest first. It leaves out those that it cannot read.
func (s Store) List() ([]*Worktree, error) {
	entries, err := os.ReadDir(s.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*Worktree
	for _, e := range entries {
		if w, err := s.Open(e.Name()); err == nil {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *Worktree) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// Remove removes a copy with everything in it. A copy that is not there is no error.
func (s Store) Remove(name string) error {
	if !valid(name) {
		return fmt.Errorf("%q: %w", name, ErrNotFound)
	}
	if err := os.Remove(filepath.Join(s.Private, name, infoName)); err != nil && !errors.Is(err, fs.ErrNotExist) { // first, or half a copy looks whole
		return err
	}
	return errors.Join(removeAll(filepath.Join(s.Files, name)), removeAll(filepath.Join(s.Private, name)))
}

// Reconcile removes what a process left that died while it made or removed a copy. It must not run while another process makes one that is
// younger than age.
func (s Store) Reconcile(age time.Duration) error {
	var problems []error
	known := map[string]bool{}
	private, err := os.ReadDir(s.Private)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range private {
		if _, err := s.Open(e.Name()); err == nil {
			known[e.Name()] = true
		} else if old(e, age) {
			problems = append(problems, removeAll(filepath.Join(s.Private, e.Name())))
		}
	}
	files, err := os.ReadDir(s.Files)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range files {
		if !known[e.Name()] && old(e, age) {
			problems = append(problems, removeAll(filepath.Join(s.Files, e.Name())))
		}
	}
	return errors.Join(problems...)
}

func old(e fs.DirEntry, age time.Duration) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) >= age
}

// removeAll removes a tree, also if a command has taken the rights to do so from its directories.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// repository returns the directory of the repository that contains a directory, and the git directory with its objects and references; the
// directory itself, and "", if there is none.
func repository(dir string) (root, common string) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, commonDir(at)
		}
		if at == filepath.Dir(at) {
			return dir, ""
		}
	}
}

// commonDir returns the git directory with the objects of a repository, whose .git may be a file that names another directory.
func commonDir(root string) string {
	dir := filepath.Join(root, ".git")
	if text, err := os.ReadFile(dir); err == nil {
		name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !ok {
			return ""
		}
		if dir = name; !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		common := strings.TrimSpace(string(text))
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		dir = filepath.Clean(common)
	}
	if info, err := os.Stat(filepath.Join(dir, "objects")); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// headOf returns the git directory of the worktree of a repository: that with its HEAD and index.
func headOf(root, common string) string {
	dir := filepath.Join(root, ".git")
	text, err := os.ReadFile(dir)
	if err != nil {
		return common
	}
	name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), "gitdir:"))
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	return name
}

// within reports whether a directory lies in another one.
func within(dir, name string) bool { return paths.Inside(dir, name) }
