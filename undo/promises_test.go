//go:build unix

package undo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// What is in .git is never touched, not even by force: git keeps its own history.
func TestGitIsNeverTouched(t *testing.T) {
	b := newBench(t)
	b.byHand("mkdir -p .git sub/.git; echo 1 >.git/x; echo 1 >sub/.git/x; echo 1 >a")
	b.begin("go")
	b.apply(
		workspace.Edit{Path: ".git/x", Data: []byte("2\n")}, workspace.Edit{Path: "sub/.git/x", Data: []byte("2\n")},
		workspace.Edit{Path: ".git/new", Data: []byte("2\n")}, workspace.Edit{Path: "a", Data: []byte("2\n")})
	b.end()
	after := b.tree()
	_, err := b.undo("", undo.Both, false)
	if problems, ok := errors.AsType[*undo.ProblemsError](err); !ok || len(problems.Files) != 3 || !strings.Contains(problems.Files[0].Problem, "never changes") {
		t.Fatalf("error %v", err)
	}
	trees.Same(t, b.tree(), after)
	if _, err := b.undo("", undo.Both, true); err != nil {
		t.Fatal(err)
	}
	after["a"] = strings.Replace(after["a"], "2", "1", 1)
	trees.Same(t, b.tree(), after)
}

// A file that changes between the plan and its execution stays, and so does everything else.
func TestAChangeAfterThePlan(t *testing.T) {
	for _, force := range []bool{false, true} {
		b := newBench(t)
		b.byHand("echo 1 >a; echo 1 >b")
		b.begin("go")
		b.shell("echo 2 >a; echo 2 >b")
		b.end()
		plan, err := b.history().Undo("", undo.Both)
		if err != nil {
			t.Fatal(err)
		}
		b.byHand("echo mine >b")
		mine := b.tree()
		if err := plan.Apply(t.Context(), b.writer, b.kept, force); err == nil || !strings.Contains(err.Error(), "has just changed") {
			t.Errorf("force %t: error %v", force, err)
		}
		trees.Same(t, b.tree(), mine)
		if got := b.said(); got != "go" {
			t.Errorf("said %q", got)
		}
	}
}

// A directory that the session made stays as long as something in it may be somebody else's, and the rest is taken back.
func TestADirectoryWithWhatMayBeTheirs(t *testing.T) {
	b := newBench(t)
	e := b.begin("go")
	b.apply(workspace.Edit{Path: "new/dir/file", Data: []byte("x")}, workspace.Edit{Path: "new/other/file", Data: []byte("x")})
	b.end()
	b.killUnder("touch ../ready; sleep 1000", true)
	b.byHand("echo theirs >new/dir/theirs")
	want := b.tree()
	if found := b.recover(); len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	if _, err := b.undo(string(e.ID), undo.Files, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new/dir/file", "new/other", "new/other/file"} {
		delete(want, name)
	}
	trees.Same(t, b.tree(), want)
}

// An undo that was interrupted is finished only as long as nothing has happened since: then it is the newest run that is taken back.
func TestAnInterruptedUndoIsOver(t *testing.T) {
	b := newBench(t)
	b.byHand("echo 1 >a")
	b.begin("one")
	b.shell("echo 2 >a")
	b.end()
	p, err := b.history().Undo("", undo.Files)
	if err != nil {
		t.Fatal(err)
	}
	f := p.Files[0]
	begun := b.append(session.FilesChanged{
		Cause: session.ByUndo, To: p.To, Files: []session.FileChange{{Path: f.Path, Before: f.Now, After: f.Want}},
	})
	if p, err := b.history().Undo("", undo.Files); err != nil || p.Finishes != begun.ID {
		t.Errorf("%+v, %v", p, err)
	}
	b.begin("two")
	b.append(session.RunEnded{Reason: session.ReasonDone})
	if p, err := b.history().Undo("", undo.Both); err != nil || p.Finishes != "" || p.Title != "two" || len(p.Files) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
