//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/workspace"
)

// ways are all ways to a path: those that only look, and those that change.
func ways(w *workspace.Workspace) (looks, changes map[string]func(name string) error) {
	ctx := context.Background()
	look := func(f func(name string) error) func(string) error { return f }
	looks = map[string]func(string) error{
		"Resolve":  look(func(name string) error { _, err := w.Resolve(name); return err }),
		"Stat":     look(func(name string) error { _, err := w.Stat(name); return err }),
		"ReadFile": look(func(name string) error { _, err := w.ReadFile(name, 100); return err }),
		"Walk": look(func(name string) error {
			for _, err := range w.Walk(ctx, name, workspace.WalkOptions{}) {
				return err
			}
			return nil
		}),
	}
	changes = map[string]func(string) error{
		"Locate":      func(name string) error { _, err := w.Locate(name); return err },
		"WriteFile":   func(name string) error { return w.WriteFile(ctx, name, []byte("new"), nil) },
		"Rename to":   func(name string) error { return w.Rename(ctx, "spare", name, nil) },
		"Rename from": func(name string) error { return w.Rename(ctx, name, "moved", nil) },
		"Apply": func(name string) error {
			return w.Apply(ctx, []workspace.Edit{{Path: name, State: &workspace.State{Mode: 0o600}}})
		},
		"Remove": func(name string) error { return w.Remove(ctx, name, nil) },
	}
	return looks, changes
}

func TestHidden(t *testing.T) {
	base := realDir(t)
	dir := filepath.Join(base, "project")
	write(t, base, map[string]string{
		"project/.env": "secret", "project/sub/.env": "open", "project/keys/id": "secret", "project/file": "", "project/spare": "",
		"home/.ssh/id": "secret", "home/open": "", "real-keys/id": "secret",
	})
	link(t, "../home/.ssh/id", filepath.Join(dir, "innocent"))
	link(t, "keys", filepath.Join(dir, "more"))
	link(t, filepath.Join(base, "real-keys"), filepath.Join(base, "home/keys"))
	w := openWith(t, dir, workspace.Options{
		Outside: workspace.AllOutside,
		Hidden:  []string{".env", "keys", filepath.Join(base, "home/.ssh"), filepath.Join(base, "home/keys"), filepath.Join(base, "not/there")},
	})
	looks, changes := ways(w)
	for _, name := range []string{
		".env", "keys/id", "keys", "keys/new", "innocent", "more/id", "sub/../.env", filepath.Join(base, "home/.ssh/id"), "../home/.ssh",
		filepath.Join(base, "home/keys/id"), filepath.Join(base, "real-keys/id"), "../not/there",
	} {
		for way, f := range looks {
			if err := f(name); !errorIs[*workspace.HiddenError](err) {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
		for way, f := range changes {
			if name == "innocent" && way != "WriteFile" {
				continue // the link itself is no secret
			}
			if err := f(name); !errorIs[*workspace.HiddenError](err) || !strings.Contains(err.Error(), "secret") {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
	}
	if got := fmt.Sprint(walked(t, w, ".", workspace.WalkOptions{Ignored: true})); got != "[file innocent more spare sub/ sub/.env]" {
		t.Errorf("walked %s", got)
	}
	if got := fmt.Sprint(walked(t, w, base, workspace.WalkOptions{Depth: 2})); strings.Contains(got, ".ssh") || !strings.Contains(got, "home/open") {
		t.Errorf("walked %s", got)
	}
	if data, err := w.ReadFile("sub/.env", 100); err != nil || string(data) != "open" {
		t.Errorf("what is not hidden: %q, %v", data, err)
	}
}

func TestProtected(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{".git/hooks/pre-commit": "old", ".git/config": "old", "other": "", "spare": ""})
	link(t, ".git/config", filepath.Join(dir, "config"))
	w := openWith(t, dir, workspace.Options{Protected: []string{".git/hooks", ".git/config", "missing"}})
	looks, changes := ways(w)
	before := trees.Of(t, dir)
	for _, name := range []string{".git/hooks/pre-commit", ".git/hooks/new", ".git/hooks", ".git/config", "missing", "missing/new"} {
		for way, f := range changes {
			if err := f(name); !errorIs[*workspace.ProtectedError](err) || !strings.Contains(err.Error(), "protected") {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			continue
		}
		for way, f := range looks {
			if err := f(name); err != nil && !errorIs[*workspace.DirectoryError](err) {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
	}
	if err := w.WriteFile(t.Context(), "config", nil, nil); !errorIs[*workspace.ProtectedError](err) {
		t.Errorf("through a link: %v", err)
	}
	trees.Same(t, trees.Of(t, dir), before)
}

func TestRoots(t *testing.T) {
	base := realDir(t)
	write(t, base, map[string]string{
		"project/file": "", "library/.gitignore": "*.o\n", "library/a.go": "a", "library/a.o": "", "library/inner/deep": "", "elsewhere": "",
	})
	link(t, "../library", filepath.Join(base, "project/lib"))
	library := filepath.Join(base, "library")
	w := openWith(t, filepath.Join(base, "project"), workspace.Options{Roots: []string{"../library", filepath.Join(library, "inner")}})
	for _, name := range []string{filepath.Join(library, "a.go"), "../library/a.go", "lib/a.go"} {
		if data, err := w.ReadFile(name, 100); err != nil || string(data) != "a" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if got, want := fmt.Sprint(walked(t, w, "lib", workspace.WalkOptions{})), fmt.Sprintf("[%[1]s/.gitignore %[1]s/a.go %[1]s/inner/ %[1]s/inner/deep]", library); got != want {
		t.Errorf("walked %s, want %s", got, want)
	}
	for entry, err := range w.Walk(t.Context(), library, workspace.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Type.IsRegular() {
			f, _, err := w.OpenEntry(entry)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	if err := w.WriteFile(t.Context(), "../library/inner/new", []byte("n"), nil); err != nil {
		t.Error(err)
	}
	if err := w.Rename(t.Context(), "lib/a.go", "b.go", nil); err != nil {
		t.Errorf("from one root to another: %v", err)
	}
	if data, err := w.ReadFile("b.go", 100); err != nil || string(data) != "a" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(library, "a.go")); err == nil {
		t.Error("what was moved is still there")
	}
	if _, err := w.Resolve("../elsewhere"); !isOutside(err) {
		t.Errorf("next to the roots: %v", err)
	}
	if w.Rel(filepath.Join(library, "a.go")) != filepath.Join(library, "a.go") || w.Rel(filepath.Join(base, "project/file")) != "file" {
		t.Error("Rel is not from the first root")
	}
	done, err := w.Run(t.Context(), workspace.Command{Line: "pwd", Dir: "lib"})
	if err != nil || strings.TrimSpace(done.Head) != library {
		t.Errorf("a command in another root: %q, %v", done.Head, err)
	}
	if _, err := workspace.Open(base, workspace.Options{Roots: []string{"none"}}); err == nil {
		t.Error("a root that is not there is accepted")
	}
}

func TestOutside(t *testing.T) {
	base := realDir(t)
	dir := filepath.Join(base, "project")
	write(t, base, map[string]string{"project/spare": "", "other/file": "old", "other/sub/deep": ""})
	link(t, "other", filepath.Join(base, "alias"))
	mkfifo(t, filepath.Join(base, "other/pipe"))
	reads := openWith(t, dir, workspace.Options{Outside: workspace.ReadOutside})
	looks, changes := ways(reads)
	for _, name := range []string{"../other/file", "../alias/file"} {
		for way, f := range looks {
			if err := f(name); err != nil {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
		for way, f := range changes {
			if err := f(name); !isOutside(err) {
				t.Errorf("%s %s: %v", way, name, err)
			}
		}
	}
	if got, want := fmt.Sprint(walked(t, reads, "../alias/sub", workspace.WalkOptions{})), "["+filepath.Join(base, "other/sub/deep")+"]"; got != want {
		t.Errorf("walked %s, want %s", got, want)
	}
	if _, err := reads.ReadFile("../other/pipe", 1); !errorIs[*workspace.SpecialError](err) {
		t.Errorf("a pipe outside: %v", err)
	}
	if _, err := reads.ReadFile("/dev/zero", 1); !errorIs[*workspace.SpecialError](err) {
		t.Errorf("a device: %v", err)
	}
	all := openWith(t, dir, workspace.Options{Outside: workspace.AllOutside})
	for i, err := range []error{
		all.WriteFile(t.Context(), "../other/new/deep/file", []byte("x"), nil),
		all.WriteFile(t.Context(), "../alias/file", []byte("y"), nil),
		all.Rename(t.Context(), "../other/sub/deep", "here", nil),
		all.Remove(t.Context(), "../alias", nil),
	} {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	trees.Same(t, lessPipe(treeOfFiles(t, base)), map[string]string{
		"project/spare": "", "project/here": "", "other/file": "y", "other/new/deep/file": "x",
	})
}

func treeOfFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		out[rel] = ""
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(name)
			out[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func lessPipe(tree map[string]string) map[string]string {
	delete(tree, "other/pipe")
	return tree
}

// If a link replaces a directory outside the workspace after the check, no access follows it: hidden files stay hidden.
func TestSwapOutsideCannotReachSecrets(t *testing.T) {
	base := realDir(t)
	write(t, base, map[string]string{"project/x": "", "open/at/file": "open", "secret/file": "secret"})
	w := openWith(t, filepath.Join(base, "project"), workspace.Options{Outside: workspace.AllOutside, Hidden: []string{filepath.Join(base, "secret")}})
	at, parked := filepath.Join(base, "open/at"), filepath.Join(base, "open/parked")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			_ = os.Rename(at, parked)
			_ = os.RemoveAll(at) // a write may have made it
			_ = os.Symlink("../secret", at)
			_ = os.RemoveAll(at)
			_ = os.Rename(parked, at)
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	reads, refused := 0, 0
	for i := 0; i < 1500 || (reads == 0 || refused == 0) && i < 50_000; i++ {
		data, err := w.ReadFile(filepath.Join(at, "file"), 100)
		switch {
		case err == nil && string(data) != "open":
			t.Fatalf("read %q", data)
		case err == nil:
			reads++
		case errorIs[*workspace.HiddenError](err):
			refused++
		}
		if i%10 == 0 {
			_ = w.WriteFile(t.Context(), filepath.Join(at, "file"), []byte("open"), nil)
		}
	}
	close(stop)
	swapping.Wait()
	if data, err := os.ReadFile(filepath.Join(base, "secret/file")); err != nil || string(data) != "secret" {
		t.Errorf("the secret is %q, %v", data, errors.Join(err))
	}
	if reads == 0 || refused == 0 {
		t.Errorf("%d reads, %d refused: nothing was swapped", reads, refused)
	}
}
