package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// Change is a file that differs from the base. Mode 0 means that there is no file.
type Change struct {
	Path          string // relative to the root of the project, with slashes
	Before, After fs.FileMode

	before, after string // hashes of contents
}

// submodule is the mode of a repository in a repository. Its files are not copied, and not merged.
const submodule = fs.ModeDir | fs.ModeIrregular

// Changes returns the files of the copy that differ from the base, sorted, without ignored ones.
func (w *Worktree) Changes(ctx context.Context) ([]Change, error) {
	dir, err := os.MkdirTemp(w.private(), "changes-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	if err := copyIndex(w.index("base"), index); err != nil {
		return nil, err
	}
	g := w.git(w.top(), index)
	tree, err := g.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	out, err := g.run(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", w.Base, tree)
	if err != nil {
		return nil, err
	}
	return parse(string(out))
}

// parse reads lines ":mode mode hash hash letter\0path\0".
func parse(raw string) ([]Change, error) {
	var all []Change
	fields := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("cannot read the changes: unknown line %q of git diff-tree", fields[i])
		}
		c := Change{Path: fields[i+1], before: f[2], after: f[3]}
		var err error
		if c.Before, err = mode(f[0]); err != nil {
			return nil, err
		}
		if c.After, err = mode(f[1]); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// mode reads a mode of git.
func mode(text string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(text, 8, 32)
	switch {
	case err != nil:
		return 0, fmt.Errorf("cannot read the changes: unknown mode %q", text)
	case n == 0:
		return 0, nil
	case n == 0o120000:
		return fs.ModeSymlink | 0o777, nil
	case n == 0o160000:
		return submodule, nil
	default:
		return fs.FileMode(n & 0o777), nil
	}
}

// Merge is a plan that brings the changes of a copy into the project.
type Merge struct {
	Worktree  *Worktree
	Files     []File     // that the plan changes, sorted
	Conflicts []Conflict // files that it leaves as they are, sorted
	Same      []string   // files that the project has already
}

// File is the new state of one file of the project.
type File struct {
	Path   string // relative to the root of the project, with slashes
	Mode   fs.FileMode
	Data   []byte // or the target of a link; nil with Mode 0: the file is removed
	Merged bool   // both sides changed it, and the texts did not collide

	before *[]byte // content in the project when the plan was made; nil: there was none
	mode   fs.FileMode
}

// Before returns the file in the project when the plan was made. Mode 0 means that there was none.
func (f File) Before() (data []byte, mode fs.FileMode) {
	if f.before == nil {
		return nil, 0
	}
	return *f.before, f.mode
}

// Lines returns how many lines of the project's file the plan adds and removes. Of a link or a binary file it is none.
func (f File) Lines() (added, removed int) {
	var before []byte
	if f.before != nil {
		before = *f.before
	}
	if binary(before) || binary(f.Data) || f.Mode&fs.ModeSymlink != 0 || f.mode&fs.ModeSymlink != 0 {
		return 0, 0
	}
	_, hunks, _ := strings.Cut(udiff.Unified("", "", string(before), string(f.Data)), "\n@@")
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// Conflict is a file that both sides changed in ways that collide.
type Conflict struct {
	Path   string
	Why    string // in words
	Marked []byte // of texts: the merged text with conflict markers; nil: the kinds of changes collide

	file File // the marked text
}

// Merge compares base, copy and project, and returns a plan. It writes nothing.
func (w *Worktree) Merge(ctx context.Context) (*Merge, error) {
	changes, err := w.Changes(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(w.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m := &Merge{Worktree: w}
	for _, c := range changes {
		if err := m.add(ctx, root, c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// add plans one change.
func (m *Merge) add(ctx context.Context, root *os.Root, c Change) error {
	if c.Before == submodule || c.After == submodule {
		m.Conflicts = append(m.Conflicts, Conflict{Path: c.Path, Why: "it is a repository in the worktree"})
		return nil
	}
	g := m.Worktree.git("", "")
	base, err := content(ctx, g, c.Before, c.before)
	if err != nil {
		return err
	}
	theirs, err := content(ctx, g, c.After, c.after)
	if err != nil {
		return err
	}
	ours, now, err := present(root, c.Path)
	if err != nil {
		m.Conflicts = append(m.Conflicts, Conflict{Path: c.Path, Why: err.Error()})
		return nil
	}
	f := File{Path: c.Path, Mode: c.After, Data: theirs, before: &ours, mode: now}
	if now == 0 {
		f.before = nil
	}
	unchanged := kind(now) == kind(c.Before) && bytes.Equal(ours, base)
	switch {
	case kind(now) == kind(c.After) && bytes.Equal(ours, theirs) && (executable(now) == executable(c.After) || now == 0):
		m.Same = append(m.Same, c.Path)
	case unchanged:
		if !c.After.IsRegular() || c.After == 0 {
			f.Mode = c.After
		} else {
			f.Mode = permissions(now, c)
		}
		m.Files = append(m.Files, f)
	case now == 0 || c.Before == 0 && kind(now) != kind(c.After) || c.After == 0:
		m.Conflicts = append(m.Conflicts, Conflict{Path: c.Path, Why: collision(now, c)})
	case !now.IsRegular() || !c.After.IsRegular() || binary(ours) || binary(theirs) || binary(base):
		m.Conflicts = append(m.Conflicts, Conflict{Path: c.Path, Why: "both sides changed it, and it is no text"})
	default:
		merged, clean, err := m.texts(ctx, ours, base, theirs)
		if err != nil {
			return err
		}
		if f.Data, f.Merged, f.Mode = merged, true, permissions(now, c); !clean {
			m.Conflicts = append(m.Conflicts, Conflict{Path: c.Path, Why: "both sides changed the same lines", Marked: merged, file: f})
			return nil
		}
		if bytes.Equal(merged, ours) && f.Mode == now {
			m.Same = append(m.Same, c.Path)
			return nil
		}
		m.Files = append(m.Files, f)
	}
	return nil
}

// content returns a content of the private git directory; nil for no file.
func content(ctx context.Context, g git, mode fs.FileMode, hash string) ([]byte, error) {
	if mode == 0 {
		return nil, nil
	}
	data, err := g.blob(ctx, hash)
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// present returns a file of the project as it is now. Its error says in words why it cannot be changed.
func present(root *os.Root, name string) (data []byte, mode fs.FileMode, err error) {
	name = filepath.FromSlash(name)
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return nil, 0, fmt.Errorf("%s is no directory in the project", filepath.ToSlash(dir))
		}
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		return []byte(target), info.Mode(), err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no regular file in the project")
	}
	data, err = root.ReadFile(name)
	if data == nil {
		data = []byte{}
	}
	return data, info.Mode(), err
}

func kind(m fs.FileMode) fs.FileMode {
	if m == 0 {
		return fs.ModeIrregular // there is no file
	}
	return m.Type()
}

func executable(m fs.FileMode) bool { return m.IsRegular() && m&0o100 != 0 }

// permissions are those of the project's file, with the executable bit as the copy has it if the copy changed it. Git knows no more.
func permissions(now fs.FileMode, c Change) fs.FileMode {
	if now == 0 {
		return c.After
	}
	if executable(c.Before) == executable(c.After) {
		return now
	}
	if executable(c.After) {
		return now | now&0o444>>2
	}
	return now &^ 0o111
}

func collision(now fs.FileMode, c Change) string {
	switch {
	case c.After == 0:
		return "the worktree removed it, and the project changed it"
	case now == 0:
		return "the project removed it, and the worktree changed it"
	default:
		return "both sides made it"
	}
}

// binary reports whether git would not merge a content as a text.
func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// texts merges two texts by lines.
func (m *Merge) texts(ctx context.Context, ours, base, theirs []byte) (merged []byte, clean bool, err error) {
	dir, err := os.MkdirTemp(m.Worktree.private(), "merge-*")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(dir)
	args := []string{"merge-file", "-p", "-L", "project", "-L", "base", "-L", m.Worktree.Name}
	for i, data := range [][]byte{ours, base, theirs} {
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return nil, false, err
		}
		args = append(args, name)
	}
	merged, err = m.Worktree.git("", "").run(ctx, nil, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 && exit.ExitCode() < 128 {
		return merged, false, nil // the number of conflicts
	}
	return merged, err == nil, err
}

// Apply changes the files of the plan in a workspace of the project: all of them or none. The workspace journals the changes, so that undo
// reverts them. kept is the store of its checkpoints. If a file has changed since the plan was made, Apply changes nothing, and the error
// wraps [ErrStale]. With marks, it also writes the texts of conflicts with their markers.
func (m *Merge) Apply(ctx context.Context, ws *workspace.Workspace, kept contents.Store, marks bool) error {
	files := slices.Clone(m.Files)
	if marks {
		for _, c := range m.Conflicts {
			if c.Marked != nil {
				files = append(files, c.file)
			}
		}
	}
	edits := make([]workspace.Edit, len(files))
	for i, f := range files {
		e := workspace.Edit{Path: filepath.Join(m.Worktree.Root, filepath.FromSlash(f.Path)), Exact: true, Check: func() error { return m.fresh(f) }}
		if f.Mode != 0 {
			state, err := state(ctx, kept, f)
			if err != nil {
				return err
			}
			e.State = state
		}
		edits[i] = e
	}
	return ws.Apply(ctx, edits)
}

// ErrStale reports that a file has changed since the plan was made.
var ErrStale error = &coded{"worktree.stale", "the project has changed since the merge was planned; plan it again"}

// fresh reports an error if a file of the project is not what it was when the plan was made.
func (m *Merge) fresh(f File) error {
	root, err := os.OpenRoot(m.Worktree.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	now, mode, err := present(root, f.Path)
	if err != nil {
		return err
	}
	if kind(mode) != kind(f.mode) || f.before != nil && !bytes.Equal(now, *f.before) {
		return fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	return nil
}

// state keeps the content of a file and returns its state.
func state(ctx context.Context, kept contents.Store, f File) (*workspace.State, error) {
	if f.Mode&fs.ModeSymlink != 0 {
		return &workspace.State{Mode: f.Mode, Link: string(f.Data)}, nil
	}
	one, err := contents.Put(ctx, kept, bytes.NewReader(f.Data))
	if err == nil && one.Lost != "" {
		err = fmt.Errorf("cannot merge %s: %s", f.Path, one.Lost)
	}
	if err != nil {
		return nil, err
	}
	return &workspace.State{Hash: one.Hash, Size: one.Size, Mode: f.Mode}, nil
}
