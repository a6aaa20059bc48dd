package gitdir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/workspace/gitdir"
)

// note reports a directory to a guard, as a scan does.
func note(t testing.TB, g *gitdir.Guard, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	g.Note(dir, entries)
}

// newGuard makes a directory with a git directory in it, and its guard.
func newGuard(t *testing.T) (g *gitdir.Guard, dir string, write func(name, text string, mode os.FileMode)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write = func(name, text string, mode os.FileMode) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n", 0o600)
	return gitdir.New([]string{dir}, nil), dir, write
}

const evil = "[core]\n\tbare = false\n\tfsmonitor = x\n"

func TestWhatIsPutAsideIsNotReplaced(t *testing.T) {
	g, dir, write := newGuard(t)
	g.Begin()
	for i, name := range []string{"config", "config-2", "config-3"} {
		g.Begin()
		write(".git/config", fmt.Sprintf("%s# %d\n", evil, i), 0o600)
		if told, err := g.End(); err != nil || len(told) != 1 || !strings.Contains(told[0].Why, name) {
			t.Errorf("%v, %v", told, err)
		}
		kept, err := os.ReadFile(filepath.Join(dir, ".git/tenon-disarmed", name))
		if err != nil || !strings.HasSuffix(string(kept), fmt.Sprint("# ", i, "\n")) {
			t.Errorf("%q, %v", kept, err)
		}
	}
}

func TestAHookThatIsTooLargeToBeKept(t *testing.T) {
	g, dir, write := newGuard(t)
	write(".git/hooks/pre-push", strings.Repeat("x", 2<<20), 0o700)
	g.Begin()
	if told, err := g.End(); err != nil || told != nil {
		t.Fatalf("nothing was changed: %v, %v", told, err)
	}
	g.Begin()
	write(".git/hooks/pre-push", strings.Repeat("y", 3<<20), 0o700)
	told, err := g.End()
	if err == nil || !strings.Contains(err.Error(), "cannot restore hooks/pre-push: it was too large to be kept") || len(told) != 1 {
		t.Errorf("%v, %v", told, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git/hooks/pre-push")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is still there")
	}
}

// A file with many names is a large repository on a small disk. The guard keeps a bounded part of it in memory.
func TestManyLargeHooks(t *testing.T) {
	g, dir, write := newGuard(t)
	g.Begin()
	write(".git/hooks/x", strings.Repeat("x", 1<<20), 0o700)
	const count = 200
	for i := range count {
		if err := os.Link(filepath.Join(dir, ".git/hooks/x"), filepath.Join(dir, fmt.Sprint(".git/hooks/", i))); err != nil {
			t.Fatal(err)
		}
	}
	// They are the person's: the guard keeps them, to restore them.
	g = gitdir.New([]string{dir}, nil)
	g.Begin()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > count<<19 {
		t.Errorf("%d MiB are in use", m.HeapAlloc>>20)
	}
	if _, err := g.End(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsFixedIsLeftAlone(t *testing.T) {
	_, dir, write := newGuard(t)
	g := gitdir.New([]string{dir}, []string{filepath.Join(dir, ".git")})
	g.Begin()
	write(".git/config", evil, 0o600)
	if told, err := g.End(); err != nil || told != nil {
		t.Errorf("%v, %v", told, err)
	}
}

// If two commands run, the guard disarms the changes of one when the other begins, and when either ends.
func TestSeveralCommandsAtOnce(t *testing.T) {
	g, _, write := newGuard(t)
	g.Begin()
	write(".git/config", evil, 0o600)
	if told := g.Begin(); len(told) != 1 {
		t.Errorf("%v", told)
	}
	write(".git/hooks/pre-push", "", 0o700)
	if told, err := g.End(); len(told) != 1 || err != nil {
		t.Errorf("%v, %v", told, err)
	}
	if told, err := g.End(); told != nil || err != nil {
		t.Errorf("%v, %v", told, err)
	}
	write(".git/config", evil, 0o600) // a person does that
	g.Begin()
	if told, err := g.End(); told != nil || err != nil {
		t.Errorf("%v, %v", told, err)
	}
}

// If a directory was unreadable before the command, the guard leaves it closed. It opens and checks a directory that the command closed.
func TestDirectoriesThatCannotBeRead(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	for _, before := range []bool{true, false} {
		g, dir, write := newGuard(t)
		git := filepath.Join(dir, ".git")
		if !before {
			g.Begin()
		}
		write(".git/config", evil, 0o600)
		if err := os.Chmod(git, 0); err != nil {
			t.Fatal(err)
		}
		if before {
			g.Begin()
		}
		told, err := g.End()
		info, failed := os.Lstat(git)
		if err = errors.Join(err, failed, os.Chmod(git, 0o700)); err != nil {
			t.Fatal(err)
		}
		if (len(told) == 0) != before || (info.Mode().Perm() == 0) != before {
			t.Errorf("%v: reported %v, mode %v", before, told, info.Mode())
		}
	}
}
