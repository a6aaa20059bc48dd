package app

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// What commands cannot write, tools cannot write without asking: settings that name programs, and Tenon's own, whether they exist or not.
func TestToolsAndCommandsHaveTheSameBounds(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o700), os.WriteFile(filepath.Join(dir, ".git", "config"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := NewSetup(vars("TENON_CONFIG_DIR", t.TempDir(), "HOME", t.TempDir()), dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds(dir)
	policy, err := s.Policy(b, Permissions{Mode: permission.Auto})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(dir, workspace.Options{Protected: b.Protected})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for _, name := range []string{".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks/pre-commit", "tenon.json", ".tenon/tenon.json"} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if d := policy.Judge(permission.Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{{Name: full}}}}); d.Action != permission.Ask {
			t.Errorf("%s: %s: %s", name, d.Action, d.Reason)
		}
		err := ws.WriteFile(t.Context(), full, []byte("x"), nil)
		if _, protected := errors.AsType[*workspace.ProtectedError](err); !protected {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The tool and the policy analyze a command line in the same directories, so the policy judges the analysis of the tool.
func TestALineIsAnalyzedOnce(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSetup(vars("TENON_CONFIG_DIR", t.TempDir(), "HOME", t.TempDir()), dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds(dir)
	policy, err := s.Policy(b, Permissions{})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(change func(*tool.Effects)) float64 {
		e := b.Effects("for f in a b c; do gofmt -l $f | sed s/x/y/; done", b.Root)
		change(&e)
		return testing.AllocsPerRun(10, func() { policy.Judge(permission.Call{Tool: "shell", Effects: e}) })
	}
	once := judge(func(*tool.Effects) {})
	if again := judge(func(e *tool.Effects) { e.Analysis = nil }); once > again-20 {
		t.Errorf("%.0f allocations with the analysis of the tool, %.0f without", once, again)
	}
}

// If the environment does not name the home directory, the sandbox hides its secrets anyway.
func TestBoundsWithoutHome(t *testing.T) {
	u, err := user.Current()
	if err != nil || u.HomeDir == "" || runtime.GOOS == "windows" {
		t.Skip("the system knows no home directory")
	}
	t.Setenv("HOME", "")
	dir := t.TempDir()
	s, err := NewSetup(vars("TENON_CONFIG_DIR", t.TempDir()), dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds(dir)
	if want := filepath.Join(u.HomeDir, ".ssh"); b.Home != u.HomeDir || !slices.Contains(b.Hidden, want) {
		t.Errorf("home %q; hidden are %q, without %q", b.Home, b.Hidden, want)
	}
	if got := s.paths(dir, []string{"~", "~/a", "b"}); !slices.Equal(got, []string{u.HomeDir, filepath.Join(u.HomeDir, "a"), filepath.Join(dir, "b")}) {
		t.Errorf("paths %q", got)
	}
}
