//go:build unix

package workspace_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// recorder is a workspace that keeps the reported changes.
type recorder struct {
	*workspace.Workspace
	store     *contents.Dir
	baselines string
	told      [][]workspace.Change
	refuse    error
}

// has reports whether the store has a content.
func (r *recorder) has(t testing.TB, hash string) bool {
	_, err := contents.Get(t.Context(), r.store, hash)
	return err == nil
}

// alive is the last sign of life in the logs of commands; zero: there is no log.
func (r *recorder) alive() (last time.Time) {
	logs, _ := filepath.Glob(filepath.Join(r.baselines, "*", "log"))
	for _, name := range logs {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

func record(t testing.TB, dir string, o workspace.Options) *recorder {
	t.Helper()
	base := t.TempDir()
	r := &recorder{store: contents.NewDir(filepath.Join(base, "store"), contents.Options{MaxFile: 1 << 20}), baselines: filepath.Join(base, "baselines")}
	o.Checkpoints, o.Shared = r.store, &workspace.Shared{Baselines: r.baselines}
	o.Changed = func(_ context.Context, changes []workspace.Change) error {
		r.told = append(r.told, changes)
		return r.refuse
	}
	r.Workspace = openWith(t, dir, o)
	return r
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// words are changes as a test reads them.
func words(dir string, changes []workspace.Change) string {
	state := func(s *workspace.State) string {
		switch {
		case s == nil:
			return "nothing"
		case s.Lost != "":
			return "lost: " + s.Lost
		case s.Mode.IsDir():
			return s.Mode.String()
		case s.Link != "":
			return "link to " + s.Link
		}
		return fmt.Sprintf("%v %.6s", s.Mode, s.Hash)
	}
	var lines []string
	for _, c := range changes {
		rel, _ := filepath.Rel(dir, c.Path)
		lines = append(lines, fmt.Sprintf("%s: %s, %s", rel, state(c.Before), state(c.After)))
	}
	return strings.Join(lines, "\n")
}

// many is a change of all kinds.
func many() []workspace.Edit {
	return []workspace.Edit{
		{Path: "edited", Data: []byte("new")},
		{Path: "new/deep/file", Data: []byte("made")},
		{Path: "new/other", Data: []byte("made")},
		{Path: "gone/file"},
		{Path: "gone"},
		{Path: "link"},
		{Path: "moved/here", From: "from"},
		{Path: "moved/changed", From: "run.sh", Data: []byte("#!/bin/sh\n")},
		{Path: "moved/link", From: "other-link"},
	}
}

func prepareMany(t testing.TB, dir string) {
	t.Helper()
	write(t, dir, map[string]string{"edited": "old", "gone/file": "gone", "from": "moves", "run.sh": "old", "untouched": "u"})
	link(t, "edited", filepath.Join(dir, "link"))
	link(t, "nowhere", filepath.Join(dir, "other-link"))
	if err := errors.Join(os.Chmod(filepath.Join(dir, "run.sh"), 0o751), os.Chmod(filepath.Join(dir, "gone"), 0o711)); err != nil {
		t.Fatal(err)
	}
}

func TestApply(t *testing.T) {
	dir := realDir(t)
	prepareMany(t, dir)
	r := record(t, dir, workspace.Options{})
	if err := r.Apply(t.Context(), many()); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, trees.Of(t, dir), map[string]string{
		".": "drwxr-xr-x", "edited": `-rw-r--r-- "new"`, "untouched": `-rw-r--r-- "u"`,
		"new": "drwxr-xr-x", "new/deep": "drwxr-xr-x", "new/deep/file": `-rw-r--r-- "made"`, "new/other": `-rw-r--r-- "made"`,
		"moved": "drwxr-xr-x", "moved/here": `-rw-r--r-- "moves"`, "moved/changed": `-rwxr-x--x "#!/bin/sh\n"`, "moved/link": "link to nowhere",
	})
	if len(r.told) != 1 {
		t.Fatalf("reported %d times", len(r.told))
	}
	want := fmt.Sprintf(`new: nothing, drwxr-xr-x
new/deep: nothing, drwxr-xr-x
moved: nothing, drwxr-xr-x
edited: -rw-r--r-- %.6s, -rw-r--r-- %.6s
new/deep/file: nothing, -rw-r--r-- %.6[3]s
new/other: nothing, -rw-r--r-- %.6[3]s
gone/file: -rw-r--r-- %.6s, nothing
gone: drwx--x--x, nothing
link: link to edited, nothing
from: -rw-r--r-- %.6s, nothing
moved/here: nothing, -rw-r--r-- %.6[5]s
run.sh: -rwxr-x--x %.6[1]s, nothing
moved/changed: nothing, -rwxr-x--x %.6[6]s
other-link: link to nowhere, nothing
moved/link: nothing, link to nowhere`, hashOf("old"), hashOf("new"), hashOf("made"), hashOf("gone"), hashOf("moves"), hashOf("#!/bin/sh\n"))
	if got := words(dir, r.told[0]); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
	for _, c := range r.told[0] {
		if c.Before != nil && c.Before.Mode.IsRegular() && !r.has(t, c.Before.Hash) {
			t.Errorf("what %s had is not kept", c.Path)
		}
	}
}

// Whatever step fails, the tree is as it was, modes and links included, and nothing is left lying about.
func TestApplyIsAllOrNothing(t *testing.T) {
	broken := errors.New("injected")
	for n := 1; ; n++ {
		dir := realDir(t)
		prepareMany(t, dir)
		before := trees.Of(t, dir)
		r := record(t, dir, workspace.Options{})
		steps := r.FailAt(n, broken)
		err := r.Apply(t.Context(), many())
		if err == nil {
			if *steps < 12 {
				t.Errorf("only %d steps", *steps)
			}
			return
		}
		if !errors.Is(err, broken) || strings.Contains(err.Error(), "taken back") {
			t.Errorf("step %d: %v", n, err)
		}
		trees.Same(t, trees.Of(t, dir), before)
	}
}

// A failure before the first step changes nothing, and the workspace reports no change.
func TestApplyRefuses(t *testing.T) {
	stale := errors.New("stale")
	tests := []struct {
		name  string
		edits []workspace.Edit
		want  func(error) bool
	}{
		{
			"a check fails",
			[]workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "b", Data: []byte("x"), Check: func() error { return stale }}},
			func(err error) bool { return errors.Is(err, stale) },
		},
		{"a path outside", []workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "../b", Data: []byte("x")}}, errorIs[*workspace.OutsideError]},
		{
			"a target that is taken",
			[]workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "edited", From: "from"}},
			func(err error) bool { return errors.Is(err, fs.ErrExist) },
		},
		{
			"nothing to remove",
			[]workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "none"}},
			func(err error) bool { return errors.Is(err, fs.ErrNotExist) },
		},
		{"nothing to move", []workspace.Edit{{Path: "new/a", From: "none"}}, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"a directory to move", []workspace.Edit{{Path: "new/a", From: "gone"}}, errorIs[*workspace.DirectoryError]},
		{"a directory to write", []workspace.Edit{{Path: "gone", Data: []byte("x")}}, errorIs[*workspace.DirectoryError]},
		{
			"a directory with something in it",
			[]workspace.Edit{{Path: "edited", Data: []byte("x")}, {Path: "gone"}},
			func(err error) bool { return err != nil },
		},
		{"the root", []workspace.Edit{{Path: "."}}, errorIs[*workspace.DirectoryError]},
		{
			"below a file",
			[]workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "edited/b", Data: []byte("x")}},
			func(err error) bool { return strings.Contains(fmt.Sprint(err), "edited/b") },
		},
		{
			"one path twice",
			[]workspace.Edit{{Path: "edited", Data: []byte("x")}, {Path: "link", Data: []byte("y")}},
			func(err error) bool { return strings.Contains(fmt.Sprint(err), "changed twice") },
		},
		{"a pipe", []workspace.Edit{{Path: "pipe"}}, errorIs[*workspace.SpecialError]},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := realDir(t)
			prepareMany(t, dir)
			mkfifo(t, filepath.Join(dir, "pipe"))
			r := record(t, dir, workspace.Options{})
			before := lstats(t, dir)
			if err := r.Apply(t.Context(), test.edits); !test.want(err) {
				t.Errorf("error %v", err)
			}
			if after := lstats(t, dir); after != before {
				t.Errorf("the tree was\n%s\nand is\n%s", before, after)
			}
			if len(r.told) != 0 && test.name != "a directory with something in it" {
				t.Errorf("reported: %s", words(dir, r.told[0]))
			}
		})
	}
}

// lstats names everything in a tree with its mode.
func lstats(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		fmt.Fprintln(&b, name, info.Mode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The function Changed can stop a change. A context that has ended stops it too.
func TestChangedStops(t *testing.T) {
	dir := realDir(t)
	prepareMany(t, dir)
	before := trees.Of(t, dir)
	r := record(t, dir, workspace.Options{})
	r.refuse = errors.New("the journal is full")
	if err := r.Apply(t.Context(), many()); !errors.Is(err, r.refuse) {
		t.Errorf("error %v", err)
	}
	trees.Same(t, trees.Of(t, dir), before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.WriteFile(ctx, "edited", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	trees.Same(t, trees.Of(t, dir), before)
}

// If the workspace cannot keep the contents of a file, it does not change the file. If the contents are too large to keep, it reports that.
func TestContentIsKeptFirst(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"small": "s", "large": strings.Repeat("x", 2<<20)})
	r := record(t, dir, workspace.Options{})
	if err := r.Remove(t.Context(), "large", nil); err != nil {
		t.Fatal(err)
	}
	if before := r.told[0][0].Before; before.Lost != "it is larger than 1024 KiB" || before.Hash != hashOf(strings.Repeat("x", 2<<20)) {
		t.Errorf("reported %+v", before)
	}
	if err := os.RemoveAll(r.store.Path()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(r.store.Path()), map[string]string{filepath.Base(r.store.Path()): "a file"})
	before := trees.Of(t, dir)
	if err := r.WriteFile(t.Context(), "small", []byte("new"), nil); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("error %v", err)
	}
	trees.Same(t, trees.Of(t, dir), before)
}

// Places that are given back as they were: contents from the store, modes, links, directories, one kind in the place of another.
func TestApplyStates(t *testing.T) {
	dir := realDir(t)
	prepareMany(t, dir)
	before := trees.Of(t, dir)
	r := record(t, dir, workspace.Options{})
	if err := r.Apply(t.Context(), append(many(), workspace.Edit{Path: "untouched"})); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"gone": "now a file", "from/": "", "untouched": "u"})
	if err := os.Chmod(filepath.Join(dir, "untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := trees.Of(t, dir)
	var edits []workspace.Edit
	for _, c := range r.told[0] {
		edits = append(edits, workspace.Edit{Path: c.Path, State: c.Before, Exact: true})
	}
	for n := 1; ; n++ {
		r.FailAt(n, errors.New("injected"))
		err := r.Apply(t.Context(), edits)
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "injected") {
			t.Fatal(err)
		}
		trees.Same(t, trees.Of(t, dir), now)
	}
	trees.Same(t, trees.Of(t, dir), before)
}

func TestExactPathsGoThroughNoLinks(t *testing.T) {
	base := realDir(t)
	dir := filepath.Join(base, "project")
	write(t, base, map[string]string{"project/real/file": "x", "outside/file": "x"})
	w := openWith(t, dir, workspace.Options{Outside: workspace.AllOutside})
	for _, target := range []string{"real", "../outside"} {
		link(t, target, filepath.Join(dir, "at"))
		for _, e := range []workspace.Edit{{Data: []byte("new")}, {}, {State: &workspace.State{Mode: 0o600}}} {
			e.Path, e.Exact = filepath.Join(dir, "at/file"), true
			if err := w.Apply(t.Context(), []workspace.Edit{e}); err == nil || !strings.Contains(err.Error(), "leads to") {
				t.Errorf("%+v: %v", e, err)
			}
		}
		if err := os.Remove(filepath.Join(dir, "at")); err != nil {
			t.Fatal(err)
		}
	}
	trees.Same(t, trees.Of(t, base), map[string]string{
		".": "drwxr-xr-x", "project": "drwxr-xr-x", "project/real": "drwxr-xr-x", "project/real/file": `-rw-r--r-- "x"`,
		"outside": "drwxr-xr-x", "outside/file": `-rw-r--r-- "x"`,
	})
}

// If a killed process left a temporary file, the next write of its owner to the same directory removes it. Files of others stay.
func TestLeftovers(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"file": "x"})
	names := func() (mine []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".tenon-") {
				mine = append(mine, e.Name())
			}
		}
		return mine
	}
	var seen []string
	w := openWith(t, dir, workspace.Options{Session: "a session", Changed: func(context.Context, []workspace.Change) error {
		seen = names()
		return nil
	}})
	if err := w.WriteFile(t.Context(), "file", []byte("y"), nil); err != nil || len(seen) != 1 {
		t.Fatal(seen, err)
	}
	write(t, dir, map[string]string{seen[0]: "left", ".tenon-other": "of another"})
	again := openWith(t, dir, workspace.Options{Session: "a session"})
	var writers sync.WaitGroup
	for i := range 20 {
		writers.Go(func() {
			if err := again.WriteFile(t.Context(), fmt.Sprint("file", i), []byte("z"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if left := names(); len(left) != 1 || left[0] != ".tenon-other" {
		t.Errorf("left: %q", left)
	}
}
