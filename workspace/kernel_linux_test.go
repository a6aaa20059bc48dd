package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/workspace"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// In random trees of links, every method reads and changes the file that the kernel opens for a name, if that lies inside, and
// refuses it otherwise.
func TestMethodsFollowTheKernel(t *testing.T) {
	base, round := realDir(t), 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		top := filepath.Join(base, fmt.Sprint(round))
		defer os.RemoveAll(top)
		plant(t, top)
		w, err := workspace.Open(filepath.Join(top, "root"), workspace.Options{Hidden: []string{"c"}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		hidden := hiddenBy(w.Dir())
		for i := range 8 {
			follow(t, w, hidden, somewhere().Draw(t, "name"), fmt.Sprint("new ", i))
		}
	})
}

func plant(t *rapid.T, top string) {
	dirs := []string{filepath.Join(top, "root"), filepath.Join(top, "other")}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range rapid.IntRange(3, 14).Draw(t, "entries") {
		at := filepath.Join(rapid.SampledFrom(dirs).Draw(t, "in"), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "entry"))
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			if os.Mkdir(at, 0o755) == nil {
				dirs = append(dirs, at)
			}
		case 1:
			_ = os.WriteFile(at, []byte(at), 0o600)
		default:
			_ = os.Symlink(somewhere().Draw(t, "target"), at)
		}
	}
}

func somewhere() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "a", "b", "..", "..", ".", "other", "root"}), 1, 5)
		return strings.Join(parts.Draw(t, "parts"), "/")
	})
}

func follow(t *rapid.T, w *workspace.Workspace, hidden, name, text string) {
	abs := w.Dir() + "/" + name
	real, failed := filepath.EvalSymlinks(abs)
	inside := failed == nil && paths.Inside(w.Dir(), real)
	secret := paths.Inside(hidden, real) || paths.Inside(filepath.Join(w.Dir(), "c"), real)
	at, err := w.Resolve(name)
	if inside && !secret && at != real || err == nil && failed == nil && at != real {
		t.Fatalf("%s is %s for the kernel, and %s, %v", name, real, at, err)
	}
	if (inside && !secret) != (err == nil) && failed == nil {
		t.Fatalf("%s is %s, inside %v, secret %v: %v", name, real, inside, secret, err)
	}
	want, unreadable := os.ReadFile(abs)
	if got, err := w.ReadFile(name, 1000); err == nil && (unreadable != nil || string(got) != string(want) || !inside) {
		t.Fatalf("%s has %q, %v for the kernel; read %q", name, want, unreadable, got)
	} else if err != nil && unreadable == nil && inside && !secret {
		t.Fatalf("%s has %q for the kernel; %v", name, want, err)
	}
	if unreadable != nil || w.WriteFile(t.Context(), name, []byte(text), nil) != nil {
		return
	}
	if got, err := os.ReadFile(abs); err != nil || string(got) != text || !inside {
		t.Fatalf("%s was written, and has %q, %v for the kernel", name, got, err)
	}
}

// hiddenBy is where the hidden entry of a directory leads. If it is a link that the kernel cannot follow, the workspace hides the best guess.
func hiddenBy(dir string) string { return (&paths.Resolver{}).Guess(filepath.Join(dir, "c")).Path }
