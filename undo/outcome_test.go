//go:build unix

package undo_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// An undo that was killed, wherever it was then, is finished by the next process that opens the session to continue it.
func TestOpeningFinishesAKilledUndo(t *testing.T) {
	finished := 0
	for n := 1; ; n += 1 + n/2 {
		b := newBench(t)
		before, after := smallWork(b)
		id := b.writer.Session()
		b.close()
		done := killAt(t, b, id, n)
		b.open(id)
		b.must(undo.Finish(t.Context(), b.store, b.writer, b.kept, nil))
		if got := b.said(); got == "" { // otherwise it was killed before the journal had it
			finished++
			trees.Same(t, b.tree(), before)
			b.begin("something else") // as a run that continues the session
			b.end()
			if _, err := b.redo(); err != nil {
				t.Errorf("killed at %d: redo: %v", n, err)
			}
			trees.Same(t, b.tree(), after)
		}
		if t.Failed() || done {
			break
		}
	}
	if finished < 2 {
		t.Errorf("only %d undos had begun", finished)
	}
}

// If a file has changed since, opening the session says so and changes nothing.
func TestOpeningAfterAChangeOfAKilledUndo(t *testing.T) {
	b := newBench(t)
	b.begin("change")
	b.apply(workspace.Edit{Path: "a", Data: []byte("one")}, workspace.Edit{Path: "b", Data: []byte("two")})
	b.end()
	p, err := b.history().Undo("", undo.Both)
	b.must(err)
	if err := p.Apply(t.Context(), &mute{b.writer, 1}, b.kept, false); !errors.Is(err, errMute) {
		t.Fatal(err)
	}
	b.byHand("echo mine > a")
	before := b.tree()
	err = undo.Finish(t.Context(), b.store, b.writer, b.kept, nil)
	if unfinished, ok := errors.AsType[*undo.UnfinishedError](err); !ok || len(unfinished.Files) != 1 || unfinished.Code() != "undo.unfinished" {
		t.Fatalf("%v", err)
	}
	trees.Same(t, b.tree(), before)
}

// Of a call that changes files, the journal and the files show what became of it when its process died.
func TestOutcomesOfFileTools(t *testing.T) {
	type want = session.Outcome
	died := errors.New("the process died")
	for _, test := range []struct {
		name  string
		tool  string
		die   bool // after the journal had the change, before a file changed
		edits []workspace.Edit
		after string // what happens to the files later
		want  want
	}{
		{"nothing announced", "write", false, nil, "", session.OutcomeInterrupted},
		{"announced", "write", true, []workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "old", Data: []byte("y")}}, "", session.OutcomeInterrupted},
		{"announced a removal", "delete", true, []workspace.Edit{{Path: "old"}}, "", session.OutcomeInterrupted},
		{"done", "write", false, []workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "old", Data: []byte("y")}}, "", session.OutcomeOK},
		{"removed", "delete", false, []workspace.Edit{{Path: "old"}}, "", session.OutcomeOK},
		{"renamed", "patch", false, []workspace.Edit{{Path: "moved", From: "old"}}, "", session.OutcomeOK},
		{"half", "patch", false, []workspace.Edit{{Path: "new/a", Data: []byte("x")}, {Path: "old", Data: []byte("y")}}, "echo old > old", session.OutcomeFailed},
		{"changed since", "write", false, []workspace.Edit{{Path: "old", Data: []byte("y")}}, "echo mine > old", session.OutcomeUnknown},
		{"a command", "shell", false, nil, "", session.OutcomeUnknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.byHand("echo old > old")
			b.begin("work")
			b.append(session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{
				llm.ToolCall{ID: "call", Name: test.tool, Arguments: `{}`},
				llm.ToolCall{ID: "next", Name: test.tool, Arguments: `{}`},
			}}})
			b.append(session.CallStarted{Call: "call", Tool: test.tool, Arguments: json.RawMessage(`{}`)})
			if len(test.edits) > 0 {
				b.dying = nil
				if test.die {
					b.dying = died
				}
				if err := b.ws.Apply(context.Background(), test.edits); !errors.Is(err, b.dying) {
					t.Fatal(err)
				}
				b.dying = nil
			}
			b.byHand(test.after)
			id := b.writer.Session()
			b.close()
			b.open(id)
			changes := func(tool string) bool { return slices.Contains([]string{"write", "delete", "patch"}, tool) }
			before := b.tree()
			for range 2 { // the second time nothing is left to decide
				b.must(undo.Outcomes(t.Context(), b.store, b.writer, changes, nil))
			}
			trees.Same(t, b.tree(), before)
			b.must(b.recovered())
			if got := b.outcome("call"); got != test.want {
				t.Errorf("the outcome is %q, want %q", got, test.want)
			}
			if got := b.outcome("next"); got != session.OutcomeNotStarted {
				t.Errorf("the next one is %q", got)
			}
			if _, err := os.Stat(filepath.Join(b.dir, "old")); err != nil && test.die {
				t.Error(err)
			}
		})
	}
}

// recovered appends the rest of what the next process appends.
func (b *bench) recovered() error {
	lost, err := view.Recover(context.Background(), view.Stored(b.store, b.writer.Session(), ""), nil)
	if err == nil {
		_, err = b.writer.Append(context.Background(), session.Stamp{Run: b.run}, lost...)
	}
	return err
}

// outcome is the outcome of the only result of a call.
func (b *bench) outcome(call string) (outcome session.Outcome) {
	b.t.Helper()
	n := 0
	for e, err := range b.store.Read(context.Background(), b.writer.Session(), 0, session.Message{}.Kind()) {
		b.must(err)
		if m, ok := e.Body.(session.Message); ok && m.CallID == call {
			outcome, n = m.Outcome, n+1
		}
	}
	if n != 1 {
		b.t.Errorf("%s has %d results", call, n)
	}
	return outcome
}
