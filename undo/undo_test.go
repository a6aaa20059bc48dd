//go:build unix

package undo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// work fills a project, and lets two runs change more than a hundred files in every way there is. It returns the tree before
// each of them, after them, and where they began.
func work(b *bench) (states []map[string]string, begins []session.Event) {
	b.byHand(`
		mkdir -p src docs old/deep empty .git/objects
		for i in $(seq 60); do echo "file $i" > src/f$i.go; echo "page $i" > docs/p$i.md; done
		for i in $(seq 10); do echo "old $i" > old/deep/o$i; done
		printf '\000\001binary' > image.png; printf 'a\r\nb\r\n' > crlf; ln -s src/f1.go link; ln -s nowhere dangling
		echo '*.log' > .gitignore; echo ignored > x.log; echo head > .git/HEAD
		chmod 755 src/f1.go; chmod 600 docs/p1.md; chmod 711 old; chmod 444 crlf`)
	states = append(states, b.tree())
	begins = append(begins, b.begin("first"))
	var edits []workspace.Edit
	for i := 1; i <= 30; i++ {
		b.apply(workspace.Edit{Path: fmt.Sprintf("src/f%d.go", i), Data: fmt.Appendf(nil, "edited %d", i)})
		edits = append(edits,
			workspace.Edit{Path: fmt.Sprintf("docs/p%d.md", i), Data: fmt.Appendf(nil, "patched %d", i)},
			workspace.Edit{Path: fmt.Sprintf("new/dir%d/file", i), Data: []byte("new")})
	}
	b.apply(edits...)
	b.apply(workspace.Edit{Path: "src/f31.go"}, workspace.Edit{Path: "moved/f32.go", From: "src/f32.go"}, workspace.Edit{Path: "link"})
	b.end()
	states = append(states, b.tree())
	begins = append(begins, b.begin("second"))
	b.shell(`
		rm -r old; mv docs pages; rm dangling; ln -s src dangling; mkdir -p build/a/b; echo x > build/a/b/x
		for i in $(seq 40 60); do echo changed >> src/f$i.go; done
		chmod 700 src/f2.go src; sed -i s/binary/BINARY/ image.png; rm src/f33.go; mkdir src/f33.go; echo log > y.log; rmdir empty; echo 2 > .git/HEAD`)
	b.apply(workspace.Edit{Path: "src/f40.go", Data: []byte("and by a tool")}, workspace.Edit{Path: "pages/p1.md"})
	b.shell("echo again >> src/f40.go; rm -rf new/dir1")
	b.end()
	return append(states, b.tree()), begins
}

// like is a tree without what is never touched.
func like(tree map[string]string) map[string]string {
	for _, name := range []string{".git/HEAD", "x.log", "y.log"} {
		delete(tree, name)
	}
	return tree
}

func TestUndoAndRedo(t *testing.T) {
	b := newBench(t)
	states, begins := work(b)
	steps := []struct {
		name string
		do   func() (*undo.Plan, error)
		tree int
		said string
	}{
		{"the last run", func() (*undo.Plan, error) { return b.undo("", undo.Both, false) }, 1, "first"},
		{"the run before", func() (*undo.Plan, error) { return b.undo("", undo.Both, false) }, 0, ""},
		{"redo", b.redo, 1, "first"},
		{"redo more", b.redo, 2, "first second"},
		{"to an entry", func() (*undo.Plan, error) { return b.undo(string(begins[0].ID), undo.Both, false) }, 0, ""},
		{"redo", b.redo, 2, "first second"},
		{"only files", func() (*undo.Plan, error) { return b.undo("", undo.Files, false) }, 1, "first second"},
		{"only files again", func() (*undo.Plan, error) { return b.undo("", undo.Files, false) }, 0, "first second"},
		{"to what was undone", func() (*undo.Plan, error) { return b.undo(fmt.Sprint(begins[1].Seq), undo.Files, false) }, 1, "first second"},
		{"redo", b.redo, 0, "first second"},
		{"redo", b.redo, 1, "first second"},
		{"redo", b.redo, 2, "first second"},
		{"only the conversation", func() (*undo.Plan, error) { return b.undo("", undo.Conversation, false) }, 2, "first"},
		{"redo", b.redo, 2, "first second"},
	}
	for _, step := range steps {
		plan, err := step.do()
		if err != nil {
			t.Fatalf("%s: %v\n%+v", step.name, err, plan)
		}
		trees.Same(t, like(b.tree()), like(states[step.tree]))
		if got := b.said(); got != step.said {
			t.Errorf("%s: said %q, want %q", step.name, got, step.said)
		}
		if t.Failed() {
			t.Fatalf("after %q", step.name)
		}
	}
	if _, err := b.redo(); !isNothing(err) {
		t.Errorf("redo without an undo: %v", err)
	}
	for _, name := range []string{".git/HEAD", "x.log", "y.log"} {
		if data, err := os.ReadFile(filepath.Join(b.dir, name)); err != nil || len(data) == 0 {
			t.Errorf("%s was touched: %q, %v", name, data, err)
		}
	}
}

func isNothing(err error) bool {
	_, ok := errors.AsType[*undo.NothingError](err)
	return ok
}

// A session that goes on after an undo can take back what came then.
func TestUndoAfterUndo(t *testing.T) {
	b := newBench(t)
	empty := b.tree()
	b.begin("one")
	b.apply(workspace.Edit{Path: "a", Data: []byte("1")})
	b.end()
	one := b.tree()
	b.begin("two")
	b.apply(workspace.Edit{Path: "a", Data: []byte("2")})
	b.end()
	if _, err := b.undo("", undo.Both, false); err != nil {
		t.Fatal(err)
	}
	b.begin("three")
	b.apply(workspace.Edit{Path: "a", Data: []byte("3")}, workspace.Edit{Path: "b", Data: []byte("3")})
	b.end()
	three := b.tree()
	if got := b.said(); got != "one three" {
		t.Errorf("said %q", got)
	}
	p, err := b.history().Redo()
	if err != nil || len(p.Problems()) != 1 || !strings.Contains(p.Problems()[0].Problem, "changed it again") || p.Head != "" {
		t.Errorf("redo of what is gone: %+v, %v", p, err)
	}
	for _, want := range []map[string]string{one, empty} {
		if _, err := b.undo("", undo.Both, false); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, b.tree(), want)
	}
	if _, err := b.undo("", undo.Both, false); !isNothing(err) {
		t.Errorf("undo of nothing: %v", err)
	}
	for _, want := range []map[string]string{one, three} {
		if _, err := b.redo(); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, b.tree(), want)
	}
}

// What somebody else did since is never overwritten, and then nothing is.
func TestForeignChanges(t *testing.T) {
	changes := map[string]struct{ do, path string }{
		"an edit":                     {"echo mine > src/f5.go", "src/f5.go"},
		"a removal":                   {"rm src/f5.go", "src/f5.go"},
		"a mode":                      {"chmod 640 src/f5.go", "src/f5.go"},
		"a file where one was":        {"echo mine > src/f31.go", "src/f31.go"},
		"a link where a file was":     {"rm src/f5.go; ln -s f6.go src/f5.go", "src/f5.go"},
		"a directory where one was":   {"mkdir -p old/deep/o1", "old/deep/o1"},
		"a link to outside":           {"mv src ../src; ln -s ../src src", "src/f5.go"},
		"a link to inside":            {"mv src real; ln -s real src", "src/f5.go"},
		"a file for a directory":      {"rm -rf pages; echo mine > pages", "pages"},
		"a pipe":                      {"rm src/f5.go; mkfifo src/f5.go", "src/f5.go"},
		"a change of a file made":     {"echo mine > new/dir5/file", "new/dir5/file"},
		"a change of a command's too": {"echo mine >> build/a/b/x", "build/a/b/x"},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			_, begins := work(b)
			b.byHand(change.do)
			before := lstats(t, b.base)
			plan, err := b.undo(string(begins[0].ID), undo.Both, false)
			problems, ok := errors.AsType[*undo.ProblemsError](err)
			if !ok || !strings.Contains(err.Error(), "nothing was changed") {
				t.Fatalf("error %v", err)
			}
			found := false
			for _, f := range problems.Files {
				found = found || f.Path == filepath.Join(b.dir, change.path)
			}
			if !found || len(plan.Problems()) != len(problems.Files) {
				t.Errorf("%s is not among the problems: %+v", change.path, problems.Files)
			}
			if after := lstats(t, b.base); after != before {
				t.Errorf("something changed:\n%s\nwas\n%s", after, before)
			}
			if b.said() != "first second" {
				t.Error("the conversation went back")
			}
		})
	}
}

// lstats names everything in a tree with its mode, size and time, but for the journal.
func lstats(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if rel, _ := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(rel, "sessions.db") && !strings.HasPrefix(rel, "contents") && rel != "." {
			fmt.Fprintln(&out, rel, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// With force, what somebody else did gives way; it is kept, so that a redo brings it back. Other files of theirs stay in any case.
func TestForce(t *testing.T) {
	b := newBench(t)
	states, begins := work(b)
	b.byHand("echo mine > src/f5.go; rm src/f6.go; echo mine > new/dir7/theirs; touch src/theirs")
	after := b.tree()
	plan, err := b.undo(string(begins[0].ID), undo.Both, true)
	if err != nil {
		t.Fatal(err)
	}
	want := states[0]
	want["new"], want["new/dir7"], want["new/dir7/theirs"], want["src/theirs"] = "drwxr-xr-x", "drwxr-xr-x", `-rw-r--r-- "mine\n"`, `-rw-r--r-- ""`
	trees.Same(t, like(b.tree()), like(want))
	if notes := strings.Join(plan.Notes, " "); !strings.Contains(notes, "new/dir7 stays") {
		t.Errorf("notes %q", notes)
	}
	if _, err := b.redo(); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, like(b.tree()), like(after))
}

// What somebody has brought back by hand need not be brought back; what was not kept is told, and is no reason to lose more.
func TestLostAndDone(t *testing.T) {
	b := newBench(t)
	b.byHand("head -c 2000000 /dev/zero > large; echo a > a; echo b > b")
	before := b.tree()
	e := b.begin("go")
	b.shell("echo x >> a; echo x >> b")
	b.end()
	b.byHand("echo a > a")
	plan, err := b.history().Undo("", undo.Both)
	if err != nil || len(plan.Files) != 1 || plan.Title != "go" {
		t.Fatalf("%+v, %v", plan, err)
	}
	b.begin("more")
	b.shell("rm large")
	b.end()
	_, err = b.undo(string(e.ID), undo.Both, false)
	if err == nil || !strings.Contains(err.Error(), "its content was not kept: it is larger than 1024 KiB") {
		t.Fatalf("error %v", err)
	}
	if _, err := b.undo(string(e.ID), undo.Both, true); err != nil {
		t.Fatal(err)
	}
	delete(before, "large")
	trees.Same(t, b.tree(), before)
}

// A folder that cannot be written, and that the session has not made or changed, stops all of it, files and conversation.
func TestReadOnlyFolder(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	b := newBench(t)
	_, begins := work(b)
	b.must(os.Chmod(b.dir, 0o555))
	tree, before := b.tree(), files(lstats(t, b.base))
	defer os.Chmod(b.dir, 0o755)
	if _, err := b.undo(string(begins[0].ID), undo.Both, true); err == nil {
		t.Error("no error")
	}
	trees.Same(t, b.tree(), tree)
	if after := files(lstats(t, b.base)); after != before || b.said() != "first second" {
		t.Errorf("something changed:\n%s\nwas\n%s", after, before)
	}
}

// files are those of a list that are no directories: their times tell of temporary files, too.
func files(list string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(list, "\n"), func(line string) bool { return strings.Contains(line, " d") }), "\n")
}

// Many hundred files in one entry come back and go again, and what is beyond the limit of an entry is told.
func TestHundredsOfFiles(t *testing.T) {
	b := newBench(t)
	const total = 480
	b.byHand(fmt.Sprintf(`for d in $(seq 20); do mkdir -p src/d$d; done; i=0; while [ $i -lt %d ]; do i=$((i+1)); echo "file $i" >src/d$((i%%20+1))/f$i; done`, total))
	before := b.tree()
	b.begin("all of it")
	b.shell("mv src/d1 moved; for f in src/d1?/*; do echo more >>$f; done; rm -r src/d3; chmod 600 src/d4/*; mkdir new; cp -r src/d5 new")
	b.end()
	after := b.tree()
	p, err := b.undo("", undo.Both, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Files) < 320 {
		t.Errorf("%d files in one entry", len(p.Files))
	}
	trees.Same(t, b.tree(), before)
	if _, err := b.redo(); err != nil {
		t.Fatal(err)
	}
	trees.Same(t, b.tree(), after)
}

// What an entry has no room for is counted, and an undo says that it stays.
func TestMoreThanAnEntryHolds(t *testing.T) {
	b := newBench(t)
	changes := make([]workspace.Change, 20_003)
	for i := range changes {
		changes[i] = workspace.Change{Path: fmt.Sprintf("%s/f%d", b.dir, i), After: &workspace.State{Mode: 0o644}, Done: true}
	}
	b.begin("too much")
	b.append(undo.Record("call", changes))
	b.end()
	p, err := b.history().Undo("", undo.Both)
	b.must(err)
	if len(p.Files) != 0 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "do not change: 3.") {
		t.Errorf("%d files, %q", len(p.Files), p.Notes)
	}
}

func TestDiff(t *testing.T) {
	b := newBench(t)
	b.byHand(`printf 'one\ntwo\nthree\n' > a; echo b > b; printf '\000' > c; echo same > same; echo gone > gone; printf -- '-- sql\n' > d`)
	b.begin("go")
	b.apply(workspace.Edit{Path: "a", Data: []byte("one\n2\nthree\n")}, workspace.Edit{Path: "new/file", Data: []byte("n\n")}, workspace.Edit{Path: "gone"})
	middle := b.begin("more")
	b.shell("printf x >> c; chmod 755 b; echo other > same; echo same > same; echo n >> new/file; : > d")
	b.end()
	b.byHand("echo four >> a; echo untouched > theirs")
	show := func(from string) string {
		diffs, err := b.history().Diff(b.t.Context(), from, b.kept)
		b.must(err)
		var out []string
		for _, d := range diffs {
			out = append(out, fmt.Sprintf("%s +%d -%d %s\n%s", d.Path, d.Added, d.Removed, d.Note, d.Diff))
		}
		return strings.Join(out, "")
	}
	want := `a +2 -1 others have changed it too
--- a/a
+++ b/a
@@ -1,3 +1,4 @@
 one
-two
+2
 three
+four
b +0 -0 
c +0 -0 not text
d +0 -1 
--- a/d
+++ b/d
@@ -1 +0,0 @@
--- sql
gone +0 -1 
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-gone
new +0 -0 
new/file +2 -0 
--- /dev/null
+++ b/new/file
@@ -0,0 +1,2 @@
+n
+n
`
	if got := show(""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := show(string(middle.ID)); strings.Contains(got, "a +") || !strings.Contains(got, "new/file +1 -0") {
		t.Errorf("since the second run:\n%s", got)
	}
	if _, err := b.undo("", undo.Files, false); err != nil {
		t.Fatal(err)
	}
	if got := show(string(middle.ID)); got != "" {
		t.Errorf("after the undo:\n%s", got)
	}
}

// Entries are named by their ID, the beginning of it, or their number; wrong names are told.
func TestEntryNames(t *testing.T) {
	b := newBench(t)
	e := b.begin("go")
	b.apply(workspace.Edit{Path: "a", Data: []byte("x")})
	b.end()
	for _, name := range []string{string(e.ID), string(e.ID[:25]), fmt.Sprint(e.Seq), strings.ToUpper(string(e.ID))} {
		if p, err := b.history().Undo(name, undo.Both); err != nil || p.To != e.ID || len(p.Files) != 1 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for name, want := range map[string]string{"nothing": "not found", "0": "prefix of", "03": "prefix of", "4711": "not found", "": ""} {
		if _, err := b.history().Undo(name, undo.Both); name != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := b.undo("", undo.Both, false); err != nil {
		t.Fatal(err)
	}
	var id session.ID
	for e, err := range b.store.Read(context.Background(), b.writer.Session(), 0) {
		b.must(err)
		if c, ok := e.Body.(session.FilesChanged); ok && c.Cause == session.ByUndo {
			id = e.ID
		}
	}
	if _, err := b.history().Undo(string(id), undo.Both); err == nil || !strings.Contains(err.Error(), "tenon redo") {
		t.Errorf("an undo as the entry: %v", err)
	}
}

// An undo after a command that a person ran between runs reverts that command alone. The next one reverts the run before, and a run that
// continued after the command goes together with the run that it continued.
func TestUndoOfAPersonsCommand(t *testing.T) {
	b := newBench(t)
	b.begin("write it")
	b.apply(workspace.Edit{Path: "a.txt", Data: []byte("one")})
	b.end()
	before := b.tree()
	command := func() {
		b.append(session.CallStarted{Call: "call", Tool: "shell", Title: "echo two > a.txt"})
		b.shell("echo two > a.txt")
		b.append(view.Ran(llm.ToolCall{ID: "call", Name: "shell"}, session.Message{Message: llm.Message{Content: llm.Content{llm.Text{Text: "done"}}}}))
	}
	command()
	p, err := b.undo("", undo.Both, false)
	b.must(err)
	if p.Title != "echo two > a.txt" || b.said() != "write it" {
		t.Errorf("the plan is %+v; the conversation is %q", p, b.said())
	}
	trees.Same(t, b.tree(), before)
	_, err = b.redo()
	b.must(err)
	if p, err := b.history().Back(1, undo.Both); err != nil || p.Title != "write it" {
		t.Errorf("the last turn is %+v, %v", p, err)
	}
	b.run = session.NewID()
	b.append(session.RunStarted{Run: b.run, Continues: session.ContinuesDefault})
	b.end()
	p, err = b.undo("", undo.Both, false)
	b.must(err)
	if p.Title != "write it" || b.said() != "" || len(b.tree()) != 1 {
		t.Errorf("the plan is %+v; the conversation is %q with %v", p, b.said(), b.tree())
	}
}
