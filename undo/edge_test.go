//go:build unix

package undo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/undo"
)

// thereAndBack undoes what a command did in a project, and redoes it.
func thereAndBack(t *testing.T, project, command string) {
	b := newBench(t)
	t.Cleanup(func() { b.byHand("chmod -R u+rwx .") })
	b.byHand(project)
	before := b.tree()
	b.begin("go")
	b.shell(command)
	b.end()
	after := b.tree()
	for range 2 {
		if _, err := b.undo("", undo.Both, false); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, b.tree(), before)
		if _, err := b.redo(); err != nil {
			t.Fatal(err)
		}
		trees.Same(t, b.tree(), after)
	}
}

// Names are bytes, also those that are no text.
func TestOddNames(t *testing.T) {
	for name, c := range map[string]struct{ project, command string }{
		"line breaks": {"printf 1 >'a\nb'", "printf 2 >'a\nb'; ln -s 'x\ny' 'l\nk'"},
		"no UTF-8": {
			`printf 1 >"$(printf 'a\377b')"; ln -s "$(printf 'o\377')" old`,
			`printf 2 >"$(printf 'a\377b')"; ln -s "$(printf 'x\377')" l; printf 3 >"$(printf 'n\377')"; ln -sf "$(printf 'o\376')" old`,
		},
		"quotes":   {`echo 1 >'"a"'; ln -s '"b' l; ln -s '"\x61"' m`, `echo 2 >'"a"'; ln -sf '"c"' l; rm m`},
		"the case": {"echo 1 >Name; mkdir Dir; echo 1 >Dir/f", "mv Name name; mv Dir dir"},
	} {
		t.Run(name, func(t *testing.T) { thereAndBack(t, c.project, c.command) })
	}
}

// What a command has closed behind itself is opened for an undo, and what closes comes back with a redo.
func TestClosedDirectories(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	for name, c := range map[string]struct{ project, command string }{
		"made":           {"echo 1 >f", "mkdir -p d/e/g; echo 1 >d/e/f; chmod 444 d/e/f; chmod 555 d/e/g d/e d"},
		"changed":        {"mkdir -p d/e; echo 1 >d/f; echo 2 >d/e/f", "echo 3 >d/f; rm d/e/f; echo 4 >d/e/g; chmod 555 d/e d"},
		"opened":         {"mkdir -p d/e; echo 1 >d/f; echo 2 >d/e/f; chmod 555 d/e d", "chmod 755 d d/e; echo 3 >d/f; rm d/e/f"},
		"opened, a file": {"mkdir -p d/e; echo 2 >d/e/f; chmod 555 d/e d", "chmod 755 d d/e; rm d/e/f; rmdir d/e; echo x >d/e"},
	} {
		t.Run(name, func(t *testing.T) { thereAndBack(t, c.project, c.command) })
	}
}

// What force cannot overcome stays as it is, and keeps nothing else from coming back.
func TestForceLeavesWhatCannotBeChanged(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	for name, c := range map[string]struct{ project, command, later, problem, stays string }{
		"a pipe in the way":      {"echo 1 >f", "echo 2 >f", "rm f; mkfifo f", "neither a file", "f"},
		"a pipe of the command":  {"echo 1 >f", "rm f; mkfifo f", "", "neither a file", "f"},
		"a pipe above":           {"mkdir f; echo 1 >f/x", "rm -r f", "mkfifo f", "neither a file", "f"},
		"a directory in the way": {"echo 1 >f", "echo 2 >f", "rm f; mkdir f; echo mine >f/x", "other files", "f"},
		"a directory that was changed": {
			"true", "mkdir f; echo 1 >f/x", "chmod 700 f; echo mine >f/y", "other files", "f",
		},
		"a link above":   {"mkdir f; echo 1 >f/x", "echo 2 >f/x", "mv f e; ln -s e f", "leads to", "e/x"},
		"without rights": {"echo 1 >f", "echo 2 >f", "chmod 0 f", "permission denied", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.byHand(c.project + "\necho 1 >other")
			b.begin("go")
			b.shell(c.command + "\necho 2 >other")
			b.end()
			b.byHand(c.later + "\n:")
			if _, err := b.undo("", undo.Both, false); err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Fatalf("error %v, want one that says %q", err, c.problem)
			}
			if _, err := b.undo("", undo.Both, true); err != nil {
				t.Fatal(err)
			}
			b.byHand("chmod -R u+rwx .")
			tree := b.tree()
			if !strings.Contains(tree["other"], `"1\n"`) {
				t.Errorf("the other file has not come back: %v", tree)
			}
			if _, there := tree[c.stays]; c.stays != "" && !there {
				t.Errorf("%s is gone: %v", c.stays, tree)
			}
			for name, text := range tree {
				if strings.Contains(name, ".tenon-") {
					t.Errorf("left behind: %s %s", name, text)
				}
			}
		})
	}
}

// Without the directory of the session there is one error, and not one for each file.
func TestTheDirectoryIsGone(t *testing.T) {
	b := newBench(t)
	e := b.write("one")
	moved := filepath.Join(b.base, "moved")
	b.must(os.Rename(b.dir, moved))
	for _, force := range []bool{false, true} {
		_, err := b.undo(string(e.ID), undo.Both, force)
		if text := fmt.Sprint(err); !strings.Contains(text, "cannot look at") || !strings.Contains(text, b.dir) {
			t.Errorf("error %s", text)
		}
	}
	if _, err := b.undo("", undo.Conversation, false); err != nil {
		t.Errorf("only the conversation: %v", err)
	}
	b.must(os.Rename(moved, b.dir))
	b.is("", "one")
}
