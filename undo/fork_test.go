//go:build unix

package undo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// back takes back turns.
func (b *bench) back(turns int, scope undo.Scope) (*undo.Plan, error) {
	b.t.Helper()
	p, err := b.history().Back(turns, scope)
	if err != nil {
		return nil, err
	}
	return p, p.Apply(context.Background(), b.writer, b.kept, false)
}

// write is a turn that writes a file with what was asked.
func (b *bench) write(text string) session.Event {
	b.t.Helper()
	e := b.begin(text)
	b.apply(workspace.Edit{Path: "f", Data: []byte(text)})
	b.end()
	return e
}

// is checks what was said, and what the file has.
func (b *bench) is(said, file string) {
	b.t.Helper()
	if got := b.said(); got != said {
		b.t.Errorf("said %q, want %q", got, said)
	}
	if got := b.tree()["f"]; !strings.Contains(got, file) || (file == "") != (got == "") {
		b.t.Errorf("the file is %q, want %q", got, file)
	}
}

// A turn is what was asked once: a run that goes on where another stopped is part of it.
func TestBackByTurns(t *testing.T) {
	b := newBench(t)
	b.write("one")
	b.write("two")
	b.run = session.NewID()
	b.append(session.RunStarted{Run: b.run, Continues: session.ContinuesDefault})
	b.apply(workspace.Edit{Path: "f", Data: []byte("two and more")})
	b.end()
	for _, step := range []struct {
		do         func() (*undo.Plan, error)
		said, file string
	}{
		{func() (*undo.Plan, error) { return b.back(1, undo.Both) }, "one", "one"},
		{b.redo, "one two", "two and more"},
		{func() (*undo.Plan, error) { return b.back(2, undo.Both) }, "", ""},
		{b.redo, "one two", "two and more"},
		{func() (*undo.Plan, error) { return b.back(2, undo.Conversation) }, "", "two and more"},
		{b.redo, "one two", "two and more"},
		{func() (*undo.Plan, error) { return b.back(1, undo.Files) }, "one two", "one"},
		{b.redo, "one two", "two and more"},
	} {
		if _, err := step.do(); err != nil {
			t.Fatal(err)
		}
		b.is(step.said, step.file)
	}
	if _, err := b.back(3, undo.Both); !isNothing(err) || !strings.Contains(err.Error(), "fewer than 3 turns: 2") {
		t.Errorf("three turns back: %v", err)
	}
	if _, err := newBench(t).back(1, undo.Both); !isNothing(err) || !strings.Contains(err.Error(), "has no turn") {
		t.Errorf("back in a new session: %v", err)
	}
}

// A fork goes back behind the place where it began. Files come back to what they were there: the rest is the other session's.
func TestAForkGoesBackBehindItsBeginning(t *testing.T) {
	b := newBench(t)
	one := b.write("one")
	b.write("two")
	id, err := b.store.Create(t.Context(), session.Created{Dir: b.dir, From: session.Origin{Session: b.writer.Session()}, Fork: true})
	b.must(err)
	b.close()
	b.open(id)
	b.is("one two", "two")
	b.write("three")
	for _, step := range []struct {
		do         func() (*undo.Plan, error)
		said, file string
		note       bool
	}{
		{func() (*undo.Plan, error) { return b.undo("", undo.Both, false) }, "one two", "two", false},
		{b.redo, "one two three", "three", false},
		{func() (*undo.Plan, error) { return b.back(2, undo.Both) }, "one", "two", true},
		{b.redo, "one two three", "three", false},
		{func() (*undo.Plan, error) { return b.back(3, undo.Conversation) }, "", "three", false},
		{b.redo, "one two three", "three", false},
		{func() (*undo.Plan, error) { return b.undo(string(one.ID), undo.Both, false) }, "", "two", true},
		{b.redo, "one two three", "three", false},
		{func() (*undo.Plan, error) { return b.back(2, undo.Files) }, "one two three", "two", true},
		{b.redo, "one two three", "three", false},
	} {
		p, err := step.do()
		if err != nil {
			t.Fatal(err)
		}
		b.is(step.said, step.file)
		if noted := strings.Contains(strings.Join(p.Notes, " "), "before this fork began"); noted != step.note {
			t.Errorf("the notes are %q", p.Notes)
		}
	}
	if _, err := b.back(4, undo.Both); !isNothing(err) {
		t.Errorf("four turns back: %v", err)
	}
}
