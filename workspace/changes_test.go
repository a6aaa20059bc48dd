//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

// sh runs a script in the workspace, follows its changes and returns the reported ones.
func (r *recorder) sh(t testing.TB, text string) string {
	t.Helper()
	r.told = nil
	note, err := r.WatchChanges(t.Context(), func() error { return script(r.Dir(), text) })
	if err != nil || note != "" {
		t.Fatal(note, err)
	}
	if len(r.told) > 1 {
		t.Fatalf("reported %d times", len(r.told))
	}
	if len(r.told) == 0 {
		return ""
	}
	for _, c := range r.told[0] {
		if !c.Done {
			t.Errorf("%s is reported as a future change", c.Path)
		}
		if c.Before != nil && c.Before.Mode.IsRegular() && c.Before.Lost == "" && !r.has(t, c.Before.Hash) {
			t.Errorf("what %s had is not kept", c.Path)
		}
	}
	return words(r.Dir(), r.told[0])
}

func script(dir, text string) error {
	cmd := exec.Command("sh", "-ec", text)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestChangesOfCommands(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{
		"edited": "old", "same": "same", "removed": "r", "tree/a": "a", "tree/b": "b", "moved": "m", "mode": "x", ".gitignore": "out/\n*.log\n",
		"out/x": "", "x.log": "", ".git/HEAD": "", "secret": "s", "becomes-dir": "f", "becomes-file/x": "x",
	})
	link(t, "edited", filepath.Join(dir, "link"))
	r := record(t, dir, workspace.Options{Hidden: []string{"secret"}})
	tests := []struct{ name, script, want string }{
		{"nothing", "cat edited >/dev/null; touch same; echo same | tr -d '\\n' > same; echo x >> x.log; echo y > out/y; echo z > .git/HEAD; echo n >> secret", ""},
		{"an edit", "printf new > edited", fmt.Sprintf("edited: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("old"), hashOf("new"))},
		{"an edit of the same size, at once again", "printf wen > edited", fmt.Sprintf("edited: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("new"), hashOf("wen"))},
		{"time put back", "printf abc > edited; touch -r same edited", fmt.Sprintf("edited: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("wen"), hashOf("abc"))},
		{"a removal and a new file", "rm removed; mkdir -p n/e; printf w > n/e/w", fmt.Sprintf(
			"n: nothing, drwxr-xr-x\nn/e: nothing, drwxr-xr-x\nn/e/w: nothing, -rw-r--r-- %.6s\nremoved: -rw-r--r-- %.6s, nothing", hashOf("w"), hashOf("r"))},
		{"a move", "mv moved there", fmt.Sprintf("moved: -rw-r--r-- %.6s, nothing\nthere: nothing, -rw-r--r-- %.6[1]s", hashOf("m"))},
		{"a mode", "chmod 755 mode tree; chmod 700 tree", fmt.Sprintf("mode: -rw-r--r-- %.6s, -rwxr-xr-x %.6[1]s\ntree: drwxr-xr-x, drwx------", hashOf("x"))},
		{"a link", "ln -sf tree link; ln -s nowhere two", "link: link to edited, link to tree\ntwo: nothing, link to nowhere"},
		{"a tree", "rm -r tree", fmt.Sprintf("tree: drwx------, nothing\ntree/a: -rw-r--r-- %.6s, nothing\ntree/b: -rw-r--r-- %.6s, nothing", hashOf("a"), hashOf("b"))},
		{"other kinds", "rm becomes-dir; mkdir becomes-dir; rm -r becomes-file; printf f > becomes-file; mkfifo pipe", fmt.Sprintf(
			"becomes-dir: -rw-r--r-- %.6s, drwxr-xr-x\nbecomes-file: drwxr-xr-x, -rw-r--r-- %.6[1]s\nbecomes-file/x: -rw-r--r-- %.6[2]s, nothing", hashOf("f"), hashOf("x"))},
		{"what ignored files become", "printf '' > .gitignore", fmt.Sprintf(".gitignore: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("out/\n*.log\n"), hashOf(""))},
		{"and what other files become", "printf 'same\\n' > .gitignore; printf 1 > x.log", fmt.Sprintf(
			".gitignore: -rw-r--r-- %.6s, -rw-r--r-- %.6s\nx.log: -rw-r--r-- %.6s, -rw-r--r-- %.6s",
			hashOf(""), hashOf("same\n"), hashOf("x\n"), hashOf("1"))},
		{"a link in the place of a directory", "mv n real; ln -s real n", fmt.Sprintf(
			"n: drwxr-xr-x, link to real\nn/e: drwxr-xr-x, nothing\nn/e/w: -rw-r--r-- %.6s, nothing\nreal: nothing, drwxr-xr-x\nreal/e: nothing, drwxr-xr-x\nreal/e/w: nothing, -rw-r--r-- %.6[1]s", hashOf("w"))},
	}
	for _, test := range tests {
		if got := r.sh(t, test.script); got != test.want {
			t.Errorf("%s: reported\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	// The workspace attributes no change between two commands. It keeps the contents from before the next one.
	write(t, dir, map[string]string{"edited": "by a person", "theirs": "t"})
	if got, want := r.sh(t, "rm edited theirs"), fmt.Sprintf("edited: -rw-r--r-- %.6s, nothing\ntheirs: -rw-r--r-- %.6s, nothing", hashOf("by a person"), hashOf("t")); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
	// A command does not hide what it does by excluding it.
	hiding := "mkdir -p .git/info; echo there > .git/info/exclude; printf 2 > there"
	if got, want := r.sh(t, hiding), fmt.Sprintf("there: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("m"), hashOf("2")); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
}

// The workspace also reports the changes of a command that failed or was killed.
func TestChangesOfFailures(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a"})
	r := record(t, dir, workspace.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := r.WatchChanges(ctx, func() error {
		err := script(dir, "rm a; exit 3")
		cancel()
		return err
	})
	if err == nil || len(r.told) != 1 {
		t.Errorf("error %v, reported %d times", err, len(r.told))
	}
	if _, err := r.WatchChanges(ctx, func() error { return script(dir, "touch b") }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	r.refuse = errors.New("the journal is full")
	if _, err := r.WatchChanges(t.Context(), func() error { return script(dir, "touch b") }); !errors.Is(err, r.refuse) {
		t.Errorf("error %v", err)
	}
}

// The workspace does not attribute the changes of tools to a background job. The next scan reports the changes of the job.
func TestChangesInTheBackground(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a", "b": "b", "c": "c"})
	r := record(t, dir, workspace.Options{})
	done, _, err := r.Track(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(t.Context(), []workspace.Edit{{Path: "a", Data: []byte("by a tool")}, {Path: "b"}, {Path: "new/d", From: "c"}}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"job": "1"})
	r.told = nil
	if _, err := r.WatchChanges(t.Context(), func() error { return script(dir, "printf 2 > command") }); err != nil || len(r.told) != 2 {
		t.Fatal(err, r.told)
	}
	for i, want := range []string{"job: nothing, -rw-r--r-- " + hashOf("1")[:6], "command: nothing, -rw-r--r-- " + hashOf("2")[:6]} {
		if got := words(dir, r.told[i]); got != want {
			t.Errorf("reported %s, want %s", got, want)
		}
	}
	write(t, dir, map[string]string{"job": "3"})
	r.told = nil
	if err := done(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := words(dir, r.told[0]), fmt.Sprintf("job: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("1"), hashOf("3")); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
}

// If there is too much to follow, the workspace reports that and never a part.
func TestScanLimits(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a", "b": "b", "large": strings.Repeat("x", 2<<20)})
	r := record(t, dir, workspace.Options{})
	if got := r.sh(t, "printf y >> large; printf z > a"); !strings.Contains(got, "large: lost: it is larger than 1024 KiB, -rw-r--r-- ") {
		t.Errorf("reported %s", got)
	}
	r.LimitScans(0, time.Nanosecond)
	write(t, dir, map[string]string{"a": "other"})
	if got := r.sh(t, "rm a"); !strings.Contains(got, "a: lost: there was more to keep than 1ns allow, nothing") {
		t.Errorf("reported %s", got)
	}
	r.LimitScans(1, 0)
	r.told = nil
	note, err := r.WatchChanges(t.Context(), func() error { return script(dir, "rm b") })
	if err != nil || !strings.Contains(note, "too large") || len(r.told) != 0 {
		t.Errorf("note %q, %v, reported %d times", note, err, len(r.told))
	}
}

// Never a home directory, nor what is above one.
func TestHomeIsNotFollowed(t *testing.T) {
	base := realDir(t)
	write(t, base, map[string]string{"home/ann/file": "x", "home/ann/project/file": "x"})
	t.Setenv("HOME", filepath.Join(base, "home/ann"))
	for _, dir := range []string{"home", "home/ann", "."} {
		r := record(t, filepath.Join(base, dir), workspace.Options{})
		note, err := r.WatchChanges(t.Context(), func() error { return script(base, "date >> home/ann/file") })
		if err != nil || !strings.Contains(note, "home directory") || len(r.told) != 0 {
			t.Errorf("%s: note %q, %v, reported %d times", dir, note, err, len(r.told))
		}
	}
	r := record(t, filepath.Join(base, "home/ann/project"), workspace.Options{Roots: []string{"..", ".", "../project"}})
	note, err := r.WatchChanges(t.Context(), func() error { return script(r.Dir(), "date >> file; date >> ../file") })
	if err != nil || note == "" || len(r.told) != 1 || len(r.told[0]) != 1 {
		t.Errorf("note %q, %v, reported %v", note, err, r.told)
	}
}

// When the files cannot be kept, the command does not run.
func TestCommandDoesNotRunUnkept(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a"})
	r := record(t, dir, workspace.Options{})
	write(t, filepath.Dir(r.baselines), map[string]string{filepath.Base(r.baselines): "a file"})
	_, err := r.WatchChanges(t.Context(), func() error { return script(dir, "rm a") })
	if err == nil || !strings.Contains(err.Error(), "was not run") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err != nil {
		t.Error(err)
	}
}

// The costs of following commands in a tree like Go's: set TENON_BENCH_TREE to a copy of one.
func BenchmarkWatch(b *testing.B) {
	dir := os.Getenv("TENON_BENCH_TREE")
	if dir == "" {
		b.Skip("TENON_BENCH_TREE is not set")
	}
	nothing := func() error { return nil }
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			r := record(b, dir, workspace.Options{})
			if _, err := r.WatchChanges(b.Context(), nothing); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("later", func(b *testing.B) {
		r := record(b, dir, workspace.Options{})
		for b.Loop() {
			if _, err := r.WatchChanges(b.Context(), nothing); err != nil {
				b.Fatal(err)
			}
		}
	})
}
