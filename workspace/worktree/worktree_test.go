package worktree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/sandbox"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// project is a directory of a person, with the store of its copies.
type project struct {
	t     *testing.T
	root  string
	store worktree.Store
}

func newProject(t *testing.T, repository bool) *project {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, root: filepath.Join(base, "project"), store: worktree.Store{Private: filepath.Join(base, "private"), Files: filepath.Join(base, "copies")}}
	p.write(p.root, "a.txt", "one\ntwo\nthree\nfour\nfive\n")
	p.write(p.root, "b.txt", "b\n")
	p.write(p.root, "sub/run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(p.root, "sub/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(p.root, ".gitignore", "*.log\n")
	p.write(p.root, "ignored.log", "x")
	if repository {
		p.git(p.root, "init", "-q", "-b", "main")
		p.git(p.root, "add", ".")
		p.git(p.root, "commit", "-q", "-m", "first")
	}
	return p
}

func (p *project) git(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@localhost"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *project) write(dir, name, text string) {
	p.t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) remove(dir, name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) read(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return "(" + err.(*fs.PathError).Err.Error() + ")"
	}
	return string(data)
}

func (p *project) copy(name string) *worktree.Worktree {
	p.t.Helper()
	w, err := p.store.Create(p.t.Context(), p.root, name, "session")
	if err != nil {
		p.t.Fatal(err)
	}
	return w
}

func (p *project) changes(w *worktree.Worktree) (all []string) {
	p.t.Helper()
	changes, err := w.Changes(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range changes {
		all = append(all, c.Path)
	}
	return all
}

func (p *project) merge(w *worktree.Worktree) *worktree.Merge {
	p.t.Helper()
	m, err := w.Merge(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// apply applies a plan, and returns what the workspace journaled.
func (p *project) apply(m *worktree.Merge, marks bool) ([]string, error) {
	p.t.Helper()
	var journaled []string
	kept := contents.NewDir(p.t.TempDir(), contents.Options{})
	ws, err := workspace.Open(p.root, workspace.Options{Checkpoints: kept, Changed: func(_ context.Context, all []workspace.Change) error {
		for _, c := range all {
			rel, err := filepath.Rel(p.root, c.Path)
			if err != nil {
				return err
			}
			journaled = append(journaled, filepath.ToSlash(rel))
		}
		return nil
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer ws.Close()
	err = m.Apply(p.t.Context(), ws, kept, marks)
	slices.Sort(journaled)
	return journaled, err
}

func TestACopyHasTheFilesOfThePerson(t *testing.T) {
	for name, repository := range map[string]bool{"repository": true, "directory": false} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, repository)
			p.write(p.root, "b.txt", "not committed\n")
			p.write(p.root, "new.txt", "not added\n")
			p.write(p.root, "ignored/x.log", "x")
			w := p.copy("w1")
			if p.read(w.Dir(), "a.txt") != p.read(p.root, "a.txt") || p.read(w.Dir(), "b.txt") != "not committed\n" || p.read(w.Dir(), "new.txt") != "not added\n" {
				t.Error("the copy has other files")
			}
			if p.read(w.Dir(), "ignored.log") == "x" {
				t.Error("the copy has an ignored file")
			}
			if info, err := os.Stat(filepath.Join(w.Dir(), "sub/run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
				t.Error("the script is not executable", err)
			}
			if got := p.changes(w); len(got) != 0 {
				t.Errorf("changes without work: %q", got)
			}
			p.write(w.Dir(), "a.txt", "changed\n")
			if p.read(p.root, "a.txt") == "changed\n" {
				t.Error("a change of the copy is in the project")
			}
			if got := p.changes(w); !slices.Equal(got, []string{"a.txt"}) {
				t.Errorf("%q", got)
			}
			if same, err := p.store.Open("w1"); err != nil || same.Base != w.Base || same.Dir() != w.Dir() {
				t.Errorf("%+v, %v", same, err)
			}
		})
	}
}

// In the copy git shows the work in the copy, and nothing of it reaches the repository of the person.
func TestACopyIsARepositoryOfItsOwn(t *testing.T) {
	p := newProject(t, true)
	p.git(p.root, "branch", "other")
	p.git(p.root, "pack-refs", "--all")
	p.write(p.root, "b.txt", "not committed\n")
	before := p.git(p.root, "rev-parse", "HEAD", "other") + p.git(p.root, "status", "--short")
	w := p.copy("w1")
	if got := p.git(w.Dir(), "status", "--short"); got != "" {
		t.Errorf("status of a new copy: %q", got)
	}
	if got := p.git(w.Dir(), "rev-parse", "--abbrev-ref", "HEAD"); got != "main" {
		t.Errorf("branch %q", got)
	}
	if got := p.git(w.Dir(), "rev-list", "--count", "HEAD"); got != "2" { // with that of the state at the start
		t.Errorf("%s commits", got)
	}
	p.git(w.Dir(), "log", "--oneline", "other")
	p.write(w.Dir(), "c.txt", "c\n")
	p.git(w.Dir(), "add", ".")
	p.git(w.Dir(), "commit", "-q", "-m", "work")
	p.git(w.Dir(), "branch", "-D", "other")
	p.git(w.Dir(), "gc", "-q")
	if after := p.git(p.root, "rev-parse", "HEAD", "other") + p.git(p.root, "status", "--short"); after != before {
		t.Errorf("the repository of the person changed:\n%s\n%s", before, after)
	}
	p.git(p.root, "fsck")
	if got := p.changes(w); !slices.Equal(got, []string{"c.txt"}) { // committed or not
		t.Errorf("%q", got)
	}
}

func TestAWorktreeOfGitAndASubdirectory(t *testing.T) {
	p := newProject(t, true)
	linked := filepath.Join(filepath.Dir(p.root), "linked")
	p.git(p.root, "worktree", "add", "-q", linked, "-b", "topic")
	p.write(linked, "sub/more.txt", "more\n")
	w, err := p.store.Create(t.Context(), filepath.Join(linked, "sub"), "w1", "")
	if err != nil {
		t.Fatal(err)
	}
	if p.read(w.Dir(), "more.txt") != "more\n" || p.read(w.Dir(), "../a.txt") == "" || w.Root != linked || w.Sub != "sub" {
		t.Errorf("%+v", w)
	}
	if got := p.git(w.Dir(), "rev-parse", "--abbrev-ref", "HEAD"); got != "topic" {
		t.Errorf("branch %q", got)
	}
}

func TestMerge(t *testing.T) {
	p := newProject(t, true)
	p.write(p.root, "gone.txt", "x\n")
	p.write(p.root, "gone2.txt", "x\n")
	p.write(p.root, "data.bin", "\x00a")
	w := p.copy("w1")
	p.write(w.Dir(), "a.txt", "ONE\ntwo\nthree\nfour\nfive\n") // and the person changes another line
	p.write(w.Dir(), "b.txt", "of the copy\n")                 // and the person changes the same line
	p.write(w.Dir(), "new.txt", "new\n")                       // and the person does not
	p.write(w.Dir(), "deep/er/new.txt", "new\n")               //
	p.write(w.Dir(), "same.txt", "same\n")                     // and the person makes the same file
	p.write(w.Dir(), "both.txt", "of the copy\n")              // and the person makes another one
	p.write(w.Dir(), "data.bin", "\x00b")                      // and the person changes it
	p.remove(w.Dir(), "gone.txt")                              // and the person leaves it
	p.remove(w.Dir(), "gone2.txt")                             // and the person changes it
	if err := os.Chmod(filepath.Join(w.Dir(), "sub/run.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.write(p.root, "a.txt", "one\ntwo\nthree\nfour\nFIVE\n")
	p.write(p.root, "b.txt", "of the person\n")
	p.write(p.root, "same.txt", "same\n")
	p.write(p.root, "both.txt", "of the person\n")
	p.write(p.root, "data.bin", "\x00c")
	p.write(p.root, "gone2.txt", "changed\n")
	m := p.merge(w)
	var files, conflicts []string
	for _, f := range m.Files {
		files = append(files, f.Path)
	}
	for _, c := range m.Conflicts {
		conflicts = append(conflicts, c.Path)
	}
	if want := []string{"a.txt", "deep/er/new.txt", "gone.txt", "new.txt", "sub/run.sh"}; !slices.Equal(files, want) {
		t.Errorf("files %q", files)
	}
	if want := []string{"b.txt", "both.txt", "data.bin", "gone2.txt"}; !slices.Equal(conflicts, want) {
		t.Errorf("conflicts %q", conflicts)
	}
	if !slices.Equal(m.Same, []string{"same.txt"}) {
		t.Errorf("same %q", m.Same)
	}
	if p.read(p.root, "new.txt") == "new\n" {
		t.Error("the plan has written a file")
	}
	journaled, err := p.apply(m, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if !slices.Contains(journaled, name) {
			t.Errorf("the workspace did not journal %s: %q", name, journaled)
		}
	}
	if p.read(p.root, "a.txt") != "ONE\ntwo\nthree\nfour\nFIVE\n" || p.read(p.root, "deep/er/new.txt") != "new\n" || p.read(p.root, "gone.txt") == "x\n" ||
		p.read(p.root, "b.txt") != "of the person\n" || p.read(p.root, "gone2.txt") != "changed\n" {
		t.Error("the merge is wrong")
	}
	if info, err := os.Stat(filepath.Join(p.root, "sub/run.sh")); err != nil || info.Mode()&0o111 != 0 {
		t.Error("the script is still executable", err)
	}
	if again := p.merge(w); len(again.Files) != 0 || len(again.Conflicts) != 4 {
		t.Errorf("merged again: %+v", again)
	}
	if _, err := p.apply(p.merge(w), true); err != nil {
		t.Fatal(err)
	}
	if got := p.read(p.root, "b.txt"); !strings.Contains(got, "<<<<<<< project\nof the person\n") || !strings.Contains(got, "of the copy\n>>>>>>> w1") {
		t.Errorf("%s", got)
	}
}

func TestAStalePlanChangesNothing(t *testing.T) {
	p := newProject(t, true)
	w := p.copy("w1")
	p.write(w.Dir(), "a.txt", "of the copy\n")
	p.write(w.Dir(), "new.txt", "new\n")
	m := p.merge(w)
	p.write(p.root, "new.txt", "of the person\n")
	if _, err := p.apply(m, false); !errors.Is(err, worktree.ErrStale) {
		t.Error(err)
	}
	if p.read(p.root, "a.txt") == "of the copy\n" || p.read(p.root, "new.txt") != "of the person\n" {
		t.Error("the plan was applied in part")
	}
}

func TestLinks(t *testing.T) {
	p := newProject(t, true)
	outside := t.TempDir()
	if err := os.Symlink("a.txt", filepath.Join(p.root, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	w := p.copy("w1")
	p.remove(w.Dir(), "link")
	if err := os.Symlink("b.txt", filepath.Join(w.Dir(), "link")); err != nil {
		t.Fatal(err)
	}
	p.remove(w.Dir(), "sub") // the copy replaces a directory by a link out of the project
	if err := os.Symlink(outside, filepath.Join(w.Dir(), "sub")); err != nil {
		t.Fatal(err)
	}
	p.write(w.Dir(), "escape/x.txt", "x\n") // and the project has a link there
	if err := os.Symlink(outside, filepath.Join(p.root, "escape")); err != nil {
		t.Fatal(err)
	}
	m := p.merge(w)
	if len(m.Conflicts) == 0 || m.Conflicts[0].Path != "escape/x.txt" {
		t.Errorf("%+v", m.Conflicts)
	}
	if _, err := p.apply(m, true); err != nil {
		t.Log(err) // a directory in the way is an error, and nothing is written
	} else if target, err := os.Readlink(filepath.Join(p.root, "link")); err != nil || target != "b.txt" {
		t.Error(target, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("files outside of the project: %v, %v", entries, err)
	}
}

// Nothing in the project or the copy makes git run a program or convert files.
func TestHostileRepositories(t *testing.T) {
	p := newProject(t, true)
	proof := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	p.write("/", evil, "#!/bin/sh\ntouch "+proof+"\ncat\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, set := range [][]string{
		{"core.fsmonitor", evil},
		{"core.hooksPath", filepath.Dir(evil)},
		{"filter.x.clean", evil},
		{"filter.x.smudge", evil},
		{"diff.external", evil},
		{"merge.x.driver", evil},
		{"core.sshCommand", evil},
		{"core.pager", evil},
		{"gpg.program", evil},
		{"core.autocrlf", "true"},
	} {
		p.git(p.root, "config", set[0], set[1])
	}
	p.write(p.root, ".gitattributes", "* filter=x diff=x merge=x text=auto eol=crlf ident\n")
	p.write(p.root, "crlf.txt", "a\r\nb\r\n$Id$\n")
	for _, hook := range []string{"post-checkout", "pre-commit", "post-index-change", "reference-transaction"} {
		p.write(p.root, ".git/hooks/"+hook, p.read("/", evil))
		if err := os.Chmod(filepath.Join(p.root, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := p.copy("w1")
	if got := p.read(w.Dir(), "crlf.txt"); got != "a\r\nb\r\n$Id$\n" {
		t.Errorf("converted: %q", got)
	}
	if err := os.CopyFS(filepath.Join(w.Dir(), "nested/.git"), os.DirFS(filepath.Join(p.root, ".git"))); err != nil {
		t.Fatal(err)
	}
	p.remove(w.Dir(), ".git")
	if err := os.CopyFS(filepath.Join(w.Dir(), ".git"), os.DirFS(filepath.Join(p.root, ".git"))); err != nil {
		t.Fatal(err)
	}
	p.write(w.Dir(), "crlf.txt", "a\r\nc\r\n")
	p.write(w.Dir(), "nested/file.txt", "x\n")
	p.write(p.root, "crlf.txt", "z\r\nb\r\n$Id$\n")
	m := p.merge(w)
	if _, err := os.Stat(proof); err == nil {
		t.Fatal("git ran a program of the repository")
	}
	for _, f := range m.Files {
		if strings.HasPrefix(f.Path, "nested/.git") || strings.HasPrefix(f.Path, ".git/") {
			t.Errorf("the merge writes %s", f.Path)
		}
	}
	if !slices.ContainsFunc(m.Conflicts, func(c worktree.Conflict) bool { return c.Path == "nested" }) {
		t.Errorf("the nested repository is no conflict: %+v", m.Conflicts)
	}
}

func TestErrors(t *testing.T) {
	p := newProject(t, false)
	p.copy("w1")
	if _, err := p.store.Create(t.Context(), p.root, "w1", ""); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if _, err := p.store.Open("w1"); err != nil {
		t.Error("a failed second copy removed the first one:", err)
	}
	for _, name := range []string{"", "..", "a/b", "a b"} {
		if _, err := p.store.Create(t.Context(), p.root, name, ""); err == nil {
			t.Errorf("a copy named %q", name)
		}
		if _, err := p.store.Open(name); !errors.Is(err, worktree.ErrNotFound) {
			t.Error(err)
		}
		if err := p.store.Remove(name); !errors.Is(err, worktree.ErrNotFound) {
			t.Error(err)
		}
	}
	inside := worktree.Store{Private: filepath.Join(p.root, "x"), Files: filepath.Join(p.root, "y")}
	if _, err := inside.Create(t.Context(), p.root, "w", ""); err == nil {
		t.Error("a copy in the project")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.store.Create(ctx, p.root, "late", ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(p.store.Files); err != nil || len(left) != 1 {
		t.Errorf("a failed copy left %v, %v", left, err)
	}
}

func TestRemoveAndReconcile(t *testing.T) {
	p := newProject(t, false)
	w := p.copy("w1")
	p.copy("w2")
	locked := filepath.Join(w.Dir(), "locked")
	p.write(locked, "x", "x")
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.store.Private, p.store.Files} { // a process died
		if err := os.MkdirAll(filepath.Join(dir, "half", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(p.store.Files, "orphan"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.store.Reconcile(0); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(p.store.Files); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
	if err := errors.Join(p.store.Remove("w1"), p.store.Remove("w1")); err != nil {
		t.Fatal(err)
	}
	all, err := p.store.List()
	if err != nil || len(all) != 1 || all[0].Name != "w2" {
		t.Errorf("%+v, %v", all, err)
	}
	if none, err := (worktree.Store{Private: filepath.Join(p.root, "none")}).List(); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// A process continues with a copy, also with one that another process left half made or half removed, and never replaces a whole one.
func TestContinue(t *testing.T) {
	p := newProject(t, true)
	again := func() (*worktree.Worktree, error) { return p.store.Continue(t.Context(), p.root, "w", "session") }
	info := filepath.Join(p.store.Private, "w", "worktree.json")
	w := p.copy("w")
	p.write(w.Dir(), "work.txt", "x")
	if w, err := again(); err != nil || p.read(w.Dir(), "work.txt") != "x" {
		t.Fatalf("%+v, %v", w, err)
	}
	if err := os.Remove(info); err != nil {
		t.Fatal(err)
	}
	p.write(w.Dir(), "a.txt", "half")
	w, err := again()
	if err != nil || len(p.changes(w)) > 0 || w.Owner != "session" {
		t.Fatalf("%+v, %v", w, err)
	}
	p.write(w.Dir(), "work.txt", "x")
	p.write(filepath.Dir(info), "worktree.json", "{")
	if w, err := again(); err == nil || p.read(filepath.Join(p.store.Files, "w"), "work.txt") != "x" {
		t.Errorf("%+v, %v", w, err)
	}
}

func BenchmarkCreate(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		name := filepath.Join(root, string(rune('a'+i%26)), strings.Repeat("x", 1+i/26)+".txt")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat("line\n", 100)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	base := b.TempDir()
	s := worktree.Store{Private: filepath.Join(base, "p"), Files: filepath.Join(base, "f")}
	for b.Loop() {
		if _, err := s.Create(b.Context(), root, "w", ""); err != nil {
			b.Fatal(err)
		}
		if err := s.Remove("w"); err != nil {
			b.Fatal(err)
		}
	}
}
