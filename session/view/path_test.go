package view_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
)

// written is a session that is being written, with its branch.
type written struct {
	t      *testing.T
	store  *memory.Store
	id     session.SessionID
	w      session.Writer
	branch *view.Branch
}

func write(t *testing.T) *written {
	t.Helper()
	s := &written{t: t, store: memory.New()}
	t.Cleanup(func() { _ = s.store.Close() })
	var err error
	if s.id, err = s.store.Create(t.Context(), session.Created{}); err != nil {
		t.Fatal(err)
	}
	if s.w, err = s.store.Open(t.Context(), s.id, session.Lease{}); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	return s
}

func (s *written) reopen() {
	s.t.Helper()
	var err error
	if s.branch, err = view.NewBranch(s.t.Context(), s.store, s.id); err != nil {
		s.t.Fatal(err)
	}
}

func (s *written) add(bodies ...session.Body) []session.Event {
	s.t.Helper()
	events, err := s.w.Append(s.t.Context(), session.Stamp{}, bodies...)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events {
		s.branch.Append(e)
	}
	return events
}

func seqs(t *testing.T, p iter.Seq2[session.Event, error], limit int) (list []int64) {
	t.Helper()
	for e, err := range p {
		if err != nil {
			t.Fatal(err)
		}
		if list = append(list, e.Seq); len(list) == limit {
			break
		}
	}
	return list
}

// agrees fails the test unless the branch is what the store says.
func (s *written) agrees() {
	s.t.Helper()
	got := seqs(s.t, s.branch.Backward(s.t.Context()), 0)
	want := seqs(s.t, s.store.Backward(s.t.Context(), s.id, ""), 0)
	if !slices.Equal(got, want) {
		s.t.Fatalf("the branch is %v, in the store %v", got, want)
	}
}

func TestBranchIsWhatTheStoreSays(t *testing.T) {
	text := session.Message{Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
	for name, read := range map[string]func(*written){
		"never read before":   func(*written) {},
		"read in part before": func(s *written) { seqs(t, s.branch.Backward(t.Context()), 2) },
		"read before":         func(s *written) { seqs(t, s.branch.Backward(t.Context()), 0) },
		"read twice at once": func(s *written) {
			for range s.branch.Backward(t.Context()) {
				seqs(t, s.branch.Backward(t.Context()), 0)
			}
		},
		"reopened": func(s *written) { s.reopen() },
	} {
		t.Run(name, func(t *testing.T) {
			s := write(t)
			first := s.add(text, text, session.Title{Title: "t"}, text)
			read(s)
			second := s.add(text, session.Note{}, text)
			read(s)
			for _, to := range []session.ID{second[0].ID, first[1].ID, s.id, first[3].ID, second[2].ID} {
				s.add(session.Head{To: to})
				read(s)
				s.add(text, text)
				s.agrees()
				s.agrees()
			}
		})
	}
}

func TestBranchIgnoresWhatIsOnNone(t *testing.T) {
	s := write(t)
	s.branch.Append(session.Event{Body: live.Delta{Text: "passing"}})
	s.branch.Append(session.Event{Seq: 99, Body: session.Title{Title: "t"}})
	s.agrees()
}

func TestBranchPassesErrorsOn(t *testing.T) {
	s := write(t)
	s.add(session.Message{Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	s.reopen()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range s.branch.Backward(ctx) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("it ended with %v", last)
	}
	s.agrees()
	if _, err := view.NewBranch(t.Context(), s.store, "nowhere"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("the branch of no session: %v", err)
	}
}

func TestTip(t *testing.T) {
	e, err := view.Tip(t.Context(), view.Entries{{Seq: 1}, {Seq: 2}})
	if err != nil || e.Seq != 2 {
		t.Errorf("the tip is %+v, %v", e, err)
	}
	if e, err := view.Tip(t.Context(), view.Entries{}); err != nil || e.Seq != 0 {
		t.Errorf("the tip of nothing is %+v, %v", e, err)
	}
}

// reads counts how many entries are read of a store.
type reads struct {
	index.Store
	entries, times int
}

func (r *reads) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	r.times++
	return func(yield func(session.Event, error) bool) {
		for e, err := range r.Store.Backward(ctx, id, leaf) {
			r.entries++
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestViewsThatStopEarlyReadOnce(t *testing.T) {
	s := write(t)
	for range 100 {
		s.add(session.Message{Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	}
	r := &reads{Store: s.store}
	branch, err := view.NewBranch(t.Context(), r, s.id)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what string, limit, entries int) {
		t.Helper()
		r.entries, r.times = 0, 0
		if got := seqs(t, branch.Backward(t.Context()), limit); len(got) != min(limit, 101) || got[0] != 101 || got[len(got)-1] != int64(102-len(got)) {
			t.Fatalf("%s: %v", what, got)
		}
		if r.entries != entries || r.times > 1 {
			t.Errorf("%s: %d entries were read, %d times, want %d", what, r.entries, r.times, entries)
		}
	}
	expect("the first time", 10, 9) // NewBranch has read the tip
	expect("again", 10, 0)
	expect("less", 5, 0)
	expect("further", 30, 20)
	tenth := seqs(t, branch.Backward(t.Context()), 30)[9]
	var at session.ID
	for e, err := range branch.Backward(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == tenth {
			at = e.ID
			break
		}
	}
	branch.Forget(at)
	expect("what was not forgotten", 10, 0)
	expect("what was forgotten", 12, 2)
	branch.Forget("nowhere")
	branch.Forget(s.id)
	expect("after forgetting nothing", 12, 0)
	expect("all", 200, 101-12)
	expect("all again", 200, 0)
	for range branch.Backward(t.Context()) { // forgotten while a view reads
		branch.Forget(at)
	}
	expect("what a view had when it was forgotten", 10, 0)
	expect("what is before", 200, 91)

	// An error does not lose what was read before it.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	branch.Forget(at)
	n := 0
	for _, err := range branch.Backward(ctx) {
		if n++; n == 20 {
			cancel()
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	expect("after an error", 20, 0)
}
