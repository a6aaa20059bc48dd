//go:build unix

package undo_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// within returns bounds, and the history of the session within them.
func (b *bench) within(o workspace.Options) (undo.Bounds, func() *undo.History) {
	bounds := func(string) (workspace.Options, error) { return o, nil }
	return bounds, func() *undo.History {
		b.t.Helper()
		h, err := undo.Read(b.t.Context(), b.store, b.writer.Session(), bounds)
		b.must(err)
		return h
	}
}

// A file that is hidden or protected, or that lies outside, stays, also with force. The rest is undone and redone.
func TestFilesOutOfBoundsStay(t *testing.T) {
	for name, test := range map[string]struct {
		path   string
		bounds workspace.Options
	}{
		"hidden":    {"d/a", workspace.Options{Hidden: []string{"d"}}},
		"protected": {"d/a", workspace.Options{Protected: []string{"d/a"}}},
		"outside":   {"../other/a", workspace.Options{Roots: []string{"d"}}},
	} {
		for _, force := range []bool{false, true} {
			b := newBench(t)
			b.byHand("mkdir d ../other; echo mine >b; echo mine >d/a; echo mine >../other/a")
			path := filepath.Join(b.dir, test.path)
			before := b.tree()
			b.begin("change")
			b.apply(workspace.Edit{Path: path, Data: []byte("one\n")}, workspace.Edit{Path: "b", Data: []byte("two\n")})
			b.end()
			after := b.tree()
			other := trees.Of(t, filepath.Dir(path))
			_, history := b.within(test.bounds)
			p, err := history().Undo("", undo.Both)
			b.must(err)
			err = p.Apply(t.Context(), b.writer, b.kept, force)
			if refused, ok := errors.AsType[*undo.RefusedError](err); !ok || len(refused.Files) != 1 || refused.Files[0].Path != path || refused.Files[0].Now != nil {
				t.Errorf("%s: %v", name, err)
			}
			want := b.tree()
			if want["b"] != before["b"] {
				t.Errorf("%s: b is %q", name, want["b"])
			}
			trees.Same(t, trees.Of(t, filepath.Dir(path)), other)
			diffs, err := history().Diff(t.Context(), "", b.kept)
			if err != nil || len(diffs) != 1 || name != "protected" && (diffs[0].Note == "" || diffs[0].Diff != "" || diffs[0].After != nil) {
				t.Errorf("%s: the diff is %+v, %v", name, diffs, err)
			}
			p, err = history().Redo()
			b.must(err)
			b.must(p.Apply(t.Context(), b.writer, b.kept, force))
			trees.Same(t, b.tree(), after)
		}
	}
}

// The rest of an interrupted undo is out of bounds: opening the session says so and changes nothing, and the next undo leaves that file.
func TestFinishWithinBounds(t *testing.T) {
	b := newBench(t)
	b.begin("change")
	b.apply(workspace.Edit{Path: "a", Data: []byte("one")}, workspace.Edit{Path: "b", Data: []byte("two")})
	b.end()
	after := b.tree()
	p, err := b.history().Undo("", undo.Both)
	b.must(err)
	if err := p.Apply(t.Context(), &mute{b.writer, 1}, b.kept, false); !errors.Is(err, errMute) {
		t.Fatal(err)
	}
	b.byHand("printf one >a; printf two >b") // as if it had died before it changed them
	bounds, history := b.within(workspace.Options{Protected: []string{"a"}})
	err = undo.Finish(t.Context(), b.store, b.writer, b.kept, bounds)
	if unfinished, ok := errors.AsType[*undo.UnfinishedError](err); !ok || len(unfinished.Files) != 1 {
		t.Fatal(err)
	}
	trees.Same(t, b.tree(), after)
	p, err = history().Undo("", undo.Both)
	b.must(err)
	if _, refused := errors.AsType[*undo.RefusedError](p.Apply(t.Context(), b.writer, b.kept, false)); !refused {
		t.Error("the rest is done without a word")
	}
	delete(after, "b")
	trees.Same(t, b.tree(), after)
	b.must(undo.Finish(t.Context(), b.store, b.writer, b.kept, bounds))
}

// What an import says about a call that was interrupted is not compared with the files.
func TestOutcomesOfAnImport(t *testing.T) {
	b := newBench(t)
	b.byHand("printf one >a")
	b.begin("change")
	answer := llm.AssistantText("")
	answer.Content = append(answer.Content, llm.ToolCall{ID: "call", Name: "write", Arguments: `{}`})
	b.append(session.Message{Message: answer})
	b.append(session.CallStarted{Call: "call", Tool: "write"})
	b.apply(workspace.Edit{Path: "a", Data: []byte("two")})
	var all []session.Event
	for e, err := range b.store.Read(t.Context(), b.writer.Session(), 0) {
		b.must(err)
		all = append(all, e)
	}
	all[0].ID = "" // a new session
	id, err := b.store.Import(t.Context(), func(yield func(session.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	})
	b.must(err)
	w, err := b.store.Open(t.Context(), id, session.Lease{})
	b.must(err)
	defer w.Close()
	for session, w := range map[string]session.Writer{"its own": b.writer, "imported": w} {
		b.must(undo.Outcomes(t.Context(), b.store, w, func(string) bool { return true }, nil))
		decided := false
		for e, err := range b.store.Read(t.Context(), w.Session(), int64(len(all))) {
			b.must(err)
			decided = decided || e.Kind() == "message"
		}
		if decided != (session == "its own") {
			t.Errorf("%s: the outcome is decided: %t", session, decided)
		}
	}
}
