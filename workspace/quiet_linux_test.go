package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/workspace"
)

// The look before a command knows what others and earlier commands did, whatever that is, also if it visits only those directories of which the kernel
// has sent events: a look that visits all directories finds nothing else.
func TestLooksWithEvents(t *testing.T) {
	base, round := realDir(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		dir := filepath.Join(base, fmt.Sprint(round))
		if err := script(base, fmt.Sprintf("mkdir -p %[1]d/a/b %[1]d/c && touch %[1]d/a/x %[1]d/a/b/y %[1]d/c/z %[1]d/.gitignore", round)); err != nil {
			rt.Fatal(err)
		}
		r := record(t, dir, workspace.Options{})
		defer r.Close()
		r.UseEvents()
		for range rapid.IntRange(2, 7).Draw(rt, "commands") {
			for range rapid.IntRange(0, 3).Draw(rt, "actions of others") {
				act(rt, dir)
			}
			_, err := r.WatchChanges(t.Context(), func() error {
				missed, err := r.Missed(t.Context())
				if len(missed) > 0 {
					rt.Errorf("missed %s", words(dir, missed))
				}
				for range rapid.IntRange(-3, 2).Draw(rt, "actions of the command") {
					act(rt, dir)
				}
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// A change by a name in another directory is no event in the directory of the file.
func TestOtherNamesBetweenCommands(t *testing.T) {
	for _, text := range []string{
		"ln a/x t && echo z >>t", "ln a/x c/t && echo z >>c/t && mv c/t t",
		"ln a/x t && echo z >>t && rm t", "ln a/x t && echo z >>t && mv c/z t", "ln a/x t && echo z >>t && mv t .git/t",
		"mkdir n && ln a/x n/t && echo z >>n/t && rm n/t", "mv a b && mkdir a && echo z >a/x", "mv a b && echo z >>b/x && mv b a",
	} {
		dir := realDir(t)
		if err := script(dir, "mkdir -p a c .git && touch a/x c/z"); err != nil {
			t.Fatal(err)
		}
		r := record(t, dir, workspace.Options{})
		r.UseEvents()
		r.sh(t, "true")
		if err := script(dir, text); err != nil {
			t.Fatal(err)
		}
		_, err := r.WatchChanges(t.Context(), func() error {
			missed, err := r.Missed(t.Context())
			if len(missed) > 0 {
				t.Errorf("%s: missed %s", text, words(dir, missed))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// act does what a person may do to the files in a directory; much of it fails.
func act(t *rapid.T, dir string) {
	names := rapid.Custom(func(t *rapid.T) string {
		all := []string{"a", "b", "c", "x", "y", "z", "a/b", "a/x", "a/b/y", "c/z", "c/a", ".gitignore", "a/.gitignore", "a/b/x", "b/y", "i", "a/j"}
		return filepath.Join(dir, rapid.SampledFrom(all).Draw(t, "name"))
	})
	name := names.Draw(t, "of")
	switch rapid.IntRange(0, 9).Draw(t, "action") {
	case 0:
		_ = os.WriteFile(name, []byte(rapid.SampledFrom([]string{"", "x\n", "y\n", "i\n", "i\n!x\n"}).Draw(t, "text")), 0o644)
	case 1:
		if f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			fmt.Fprintln(f, "more")
			f.Close()
		}
	case 2:
		_ = os.RemoveAll(name)
	case 3:
		_ = os.MkdirAll(name, 0o755)
	case 4:
		_ = os.Rename(name, names.Draw(t, "to"))
	case 5:
		if to := names.Draw(t, "to"); !strings.ContainsAny(filepath.Base(to), "ij") { // the name may be ignored, which is a stated limit
			_ = os.Link(name, to)
		}
	case 6:
		_ = os.Symlink("x", name)
	case 7:
		_ = os.Chmod(name, os.FileMode(0o700|rapid.IntRange(0, 0o77).Draw(t, "mode")))
	case 8:
		_ = os.Rename(dir, dir+".away")
		_ = os.Rename(dir+".away", dir)
	case 9:
		_ = os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte("j\n"), 0o644)
		_ = os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o755)
	}
}

// The look before a command visits a large tree only where something happened.
func TestQuietDirectories(t *testing.T) {
	dir := realDir(t)
	if err := script(dir, "mkdir -p one two/three && touch one/a two/b two/three/c && ln two/b two/d"); err != nil {
		t.Fatal(err)
	}
	r := record(t, dir, workspace.Options{})
	r.UseEvents()
	r.sh(t, "true")
	if n := r.Quiet(); n == 0 {
		t.Skip("this file system sends no events")
	} else if n != 3 { // a file of two has a further name
		t.Errorf("%d quiet directories", n)
	}
	if err := script(dir, "echo x >> one/a"); err != nil {
		t.Fatal(err)
	}
	if n := r.Quiet(); n != 2 {
		t.Errorf("%d quiet directories after a change", n)
	}
	if got := r.sh(t, "echo y >> one/a"); got == "" {
		t.Error("a change is not reported")
	}
}
