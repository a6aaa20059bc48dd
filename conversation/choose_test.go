package conversation

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
)

// library is a store with sessions.
type library struct {
	*memory.Store
	t *testing.T
}

func newLibrary(t *testing.T) library { return library{memory.New(), t} }

// add creates a session with entries.
func (l library) add(c session.Created, bodies ...session.Body) session.SessionID {
	l.t.Helper()
	id, err := l.Create(l.t.Context(), c)
	if err != nil {
		l.t.Fatal(err)
	}
	w, err := l.Open(l.t.Context(), id, session.Lease{})
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := w.Append(l.t.Context(), session.Stamp{}, bodies...); err != nil {
		l.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		l.t.Fatal(err)
	}
	return id
}

// choose returns the first choice that is accepted; locked sessions are refused.
func (l library) choose(w Which, locked ...session.SessionID) (got Chosen, warnings []Warning, err error) {
	warnings, err = Choose(l.t.Context(), l, w, func(_ context.Context, c Chosen) error {
		for _, id := range locked {
			if c.ID == id {
				return &session.LockedError{Session: id, Owner: "another"}
			}
		}
		got = c
		return nil
	})
	return got, warnings, err
}

func run(model string) session.RunStarted {
	return session.RunStarted{Run: session.NewID(), Config: session.Config{Model: llm.Model{Provider: "p", ID: model}}}
}

func TestChoose(t *testing.T) {
	l := newLibrary(t)
	older := l.add(session.Created{Dir: "/a"}, run("old"))
	newer := l.add(session.Created{Dir: "/a"}, run("one"), session.ModelChanged{Model: llm.Model{Provider: "p", ID: "two"}})
	other := l.add(session.Created{Dir: "/b"})

	for name, c := range map[string]struct {
		which  Which
		locked []session.SessionID
		want   Chosen
		warn   string
		code   string
	}{
		"new":  {which: Which{Dir: "/a"}, want: Chosen{Dir: "/a"}},
		"last": {which: Which{Dir: "/a", Last: true}, want: Chosen{ID: newer, Dir: "/a", Model: "p/two"}},
		"last, if one is open": {
			which: Which{Dir: "/a", Last: true}, locked: []session.SessionID{newer},
			want: Chosen{ID: older, Dir: "/a", Model: "p/old"}, warn: "conversation.skipped",
		},
		"last, of none":        {which: Which{Dir: "/c", Last: true}, code: "conversation.not_found"},
		"last or new, of none": {which: Which{Dir: "/c", Last: true, New: true}, want: Chosen{Dir: "/c"}},
		"by ID":                {which: Which{ID: string(other)}, want: Chosen{ID: other, Dir: "/b"}},
		"by ID, elsewhere":     {which: Which{ID: string(other), Dir: "/a"}, want: Chosen{ID: other, Dir: "/a"}},
		"no such":              {which: Which{ID: "uuu"}, code: "conversation.not_found"},
	} {
		got, warnings, err := l.choose(c.which, c.locked...)
		if got != c.want || code(err) != c.code {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if c.warn == "" && len(warnings) > 0 || c.warn != "" && (len(warnings) != 1 || warnings[0].Code != c.warn) {
			t.Errorf("%s: warnings are %+v", name, warnings)
		}
	}

	got, warnings, err := l.choose(Which{Dir: "/a", Last: true, Rotate: time.Nanosecond})
	if err != nil || got.ID != "" || got.Fork || got.From.Session != newer || got.Model != "" || warnings[0].Code != "conversation.rotated" {
		t.Errorf("after idleness: %+v, %v, %v", got, warnings, err)
	}
	got, _, err = l.choose(Which{ID: string(newer), Fork: true})
	if err != nil || got.ID != "" || !got.Fork || got.From.Session != newer || got.Model != "p/two" || got.Dir != "/a" {
		t.Errorf("a fork: %+v, %v", got, err)
	}
	if _, _, err := l.choose(Which{ID: string(newer)}, newer); code(err) != "session.locked" {
		t.Errorf("a session in use: %v", err)
	}
}

// A session keeps its model, also in a fork, and if the run failed before an answer.
func TestModelOf(t *testing.T) {
	l := newLibrary(t)
	parent := l.add(session.Created{Dir: "/a"}, run("one"), session.RunEnded{Reason: session.ReasonError})
	fork := l.add(session.Created{Dir: "/a", Fork: true, From: session.Origin{Session: parent}})
	empty := l.add(session.Created{Dir: "/a"})
	for id, want := range map[session.SessionID]string{parent: "p/one", fork: "p/one", empty: ""} {
		if got, err := ModelOf(t.Context(), view.Stored(l, id, "")); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// A child session is never the last one of its directory, but its ID names it.
func TestAChildIsNeverTheLast(t *testing.T) {
	memories := memory.New()
	files, err := sqlite.Open(filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, store := range []index.Store{memories, files} {
		create := func(c session.Created) session.SessionID {
			id, err := store.Create(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		parent := create(session.Created{Dir: "/a"})
		child := create(session.Created{Dir: "/a", From: session.Origin{Session: parent}, Parent: session.Origin{Session: parent, Run: "r"}})
		if s, err := Latest(t.Context(), store, "/a"); err != nil || s.ID != parent {
			t.Errorf("the last is %s, %v", s.ID, err)
		}
		for s, err := range store.List(t.Context(), index.Query{Parent: parent}) {
			if err != nil || s.ID != child || s.Parent != parent {
				t.Errorf("a child is %+v, %v", s, err)
			}
		}
		if s, err := Resolve(t.Context(), store, string(child)); err != nil || s.ID != child {
			t.Errorf("by ID: %s, %v", s.ID, err)
		}
	}
}

func TestResolveInTheTrash(t *testing.T) {
	l := newLibrary(t)
	id := l.add(session.Created{Dir: "/a"})
	if err := l.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	_, err := Resolve(t.Context(), l, string(id[:6]))
	if missing, ok := errors.AsType[*NotFoundError](err); !ok || missing.Trashed != id || code(err) != "conversation.in_trash" || !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
