package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The limits of a directory without a repository.
const (
	maxFiles = 100_000
	maxBytes = 2 << 30
)

// Create makes a copy of the project that contains a directory, which is absolute with its links resolved. The name is that of a sub-agent's
// task, and owner its session. The copy is whole, or there is none. The error is an [*Error], or wraps [ErrTooLarge] or [fs.ErrExist].
func (s Store) Create(ctx context.Context, dir, name, owner string) (_ *Worktree, err error) {
	if !valid(name) {
		return nil, fmt.Errorf("cannot make the worktree %q: the name is not 1 to 100 letters, digits, hyphens and underscores", name)
	}
	root, common := repository(dir)
	sub, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	if within(root, s.Files) || within(root, s.Private) {
		return nil, fmt.Errorf("cannot make the worktree %q: the directory of the worktrees is in the project %s", name, root)
	}
	if common == "" {
		if err := bounded(root); err != nil {
			return nil, err
		}
	}
	w := &Worktree{Name: name, Root: root, Sub: filepath.ToSlash(sub), Owner: owner, Created: time.Now().UTC(), store: s}
	for _, d := range []string{s.Private, s.Files} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(w.private(), 0o700); err != nil { // it is no copy before its description is there
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Remove(name))
		}
	}()
	if err := os.Mkdir(w.top(), 0o700); err != nil {
		return nil, err
	}
	if err := w.fill(ctx, common); err != nil {
		return nil, err
	}
	return w, w.describe()
}

// Continue returns the copy with a name, or makes it as Create does. It removes what a process left that died while it made the copy, so no other
// process must do that at the same time.
func (s Store) Continue(ctx context.Context, dir, name, owner string) (*Worktree, error) {
	w, err := s.Open(name)
	if _, there := os.Lstat(filepath.Join(s.Private, name, infoName)); !errors.Is(err, ErrNotFound) || there == nil {
		return w, err // a description that cannot be read is that of a whole copy
	}
	if err := s.Remove(name); err != nil {
		return nil, err
	}
	return s.Create(ctx, dir, name, owner)
}

// describe writes the description, with which the copy becomes one.
func (w *Worktree) describe() error {
	data, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(w.private(), infoName)
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// fill takes the base and writes its files.
func (w *Worktree) fill(ctx context.Context, common string) error {
	index := w.index("base")
	g := w.git(w.Root, index)
	if err := g.create(ctx, common); err != nil {
		return err
	}
	if common != "" { // git then reads only files that changed since the index was written
		if err := copyIndex(filepath.Join(headOf(w.Root, common), "index"), index); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	tree, err := g.snapshot(ctx)
	if _, failed := errors.AsType[*Error](err); failed && os.Remove(index) == nil {
		tree, err = g.snapshot(ctx) // the index was of a kind that needs other files
	}
	if err != nil {
		return err
	}
	w.Base = tree
	g.files = w.top()
	if err := os.Remove(index); err != nil { // the times in it are those of the project
		return err
	}
	if _, err := g.run(ctx, nil, "read-tree", tree); err != nil {
		return err
	}
	if _, err := g.run(ctx, nil, "checkout-index", "--all", "--index", "--quiet"); err != nil {
		return err
	}
	if err := os.MkdirAll(w.Dir(), 0o700); err != nil { // it may have no files
		return err
	}
	if common == "" {
		return nil
	}
	return w.history(ctx, common, index)
}

// copyIndex copies an index with its time: git reads a file again that changed in the second in which the index was written, because its size
// and time do not show all changes.
func copyIndex(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

func (w *Worktree) index(name string) string { return filepath.Join(w.private(), "index-"+name) }

// history makes the copy a repository of its own: with the references of the project's, and a commit with the changes that the person has not
// committed, so that git shows the work in the copy alone.
func (w *Worktree) history(ctx context.Context, common, index string) error {
	own := filepath.Join(w.top(), ".git")
	if err := w.objects(own, common); err != nil {
		return err
	}
	head, err := os.ReadFile(filepath.Join(headOf(w.Root, common), "HEAD"))
	if err != nil {
		return err
	}
	if err := writeAll(own, map[string]string{"HEAD": string(head), "config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"}); err != nil {
		return err
	}
	g := git{dir: own, files: w.top(), index: filepath.Join(own, "index")}
	if format, err := w.git("", "").line(ctx, "rev-parse", "--show-object-format"); err != nil {
		return err
	} else if format != "sha1" {
		for _, set := range [][]string{{"core.repositoryformatversion", "1"}, {"extensions.objectformat", format}} {
			if _, err := g.run(ctx, nil, append([]string{"config"}, set...)...); err != nil {
				return err
			}
		}
	}
	if err := copyIndex(index, g.index); err != nil {
		return err
	}
	commit, err := g.line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err != nil {
		commit = "" // a repository without commits
	}
	w.Commit = commit
	if commit != "" {
		if committed, err := g.line(ctx, "rev-parse", "HEAD^{tree}"); err != nil || committed == w.Base {
			return err
		}
	}
	args := []string{"commit-tree", "-m", "The state of the project when this worktree was made", w.Base}
	if commit != "" {
		args = append(args, "-p", commit)
	}
	if commit, err = g.line(ctx, args...); err != nil {
		return err
	}
	_, err = g.run(ctx, nil, "update-ref", "HEAD", commit)
	return err
}

// objects lets the repository of the copy use the objects of the project's, and gives it copies of the new ones of the base and of all
// references.
func (w *Worktree) objects(own, common string) error {
	base := filepath.Join(w.private(), baseName)
	copies := [][2]string{{filepath.Join(base, "objects"), filepath.Join(own, "objects")}}
	for _, name := range []string{"refs/heads", "refs/tags", "refs/remotes"} {
		copies = append(copies, [2]string{filepath.Join(common, filepath.FromSlash(name)), filepath.Join(own, filepath.FromSlash(name))})
	}
	for _, c := range copies {
		if err := copyTree(c[0], c[1]); err != nil {
			return err
		}
	}
	files := map[string]string{"objects/info/alternates": filepath.Join(common, "objects") + "\n"}
	for _, name := range []string{"packed-refs", "info/exclude", "shallow"} {
		if data, err := os.ReadFile(filepath.Join(common, filepath.FromSlash(name))); err == nil {
			files[name] = string(data)
		}
	}
	return writeAll(own, files)
}

// copyTree copies the regular files of a tree; a missing tree has none.
func copyTree(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular() || strings.HasSuffix(name, ".lock"):
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has no such directory, or git removed a file of it meanwhile
	}
	return err
}

// bounded reports an error for a directory that is too large.
func bounded(root string) error {
	files, bytes := 0, int64(0)
	return filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		files++
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		if files > maxFiles || bytes > maxBytes {
			return ErrTooLarge
		}
		return nil
	})
}
