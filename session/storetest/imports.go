package storetest

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
)

// imported is a sequence of entries, and the error at its end.
func imported(events []session.Event, end error) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if end != nil {
			yield(session.Event{}, end)
		}
	}
}

// elsewhere is a session as another store has it: two branches, an annotation, times of long ago.
func elsewhere() []session.Event {
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	reply := llm.AssistantText("yes")
	reply.Model, reply.Usage = "test/model", llm.Usage{Input: 7, Output: 2, Cost: 0.5}
	return []session.Event{
		{ID: "elsewhere", Time: at, Body: session.Created{Dir: "/there", Imported: session.Import{Program: "tenon", ID: "abc", Size: 6}}},
		{ID: "one", Time: at.Add(time.Second), Run: "run", Turn: 1, Body: user("hello")},
		{ID: "two", Time: at.Add(2 * time.Second), Run: "run", Turn: 1, Body: session.Message{Message: reply}},
		{ID: "name", Time: at.Add(3 * time.Second), Body: session.Title{Title: "From there"}},
		{ID: "back", Time: at.Add(4 * time.Second), Body: session.Head{To: "one", Reason: "branch"}},
		{ID: "three", Time: at.Add(5 * time.Second), Body: answer("no")},
	}
}

func testImport(t *testing.T, s index.Store) {
	events := elsewhere()
	id, err := s.Import(t.Context(), imported(events, nil))
	if err != nil || id != "elsewhere" {
		t.Fatalf("import: %q, %v", id, err)
	}
	for i, parent := range []session.ID{"", "elsewhere", "one", "", "one", "back"} {
		events[i].Seq, events[i].Parent, events[i].Imported = int64(i+1), parent, true
	}
	same(t, "the import", read(t, s, id), events)
	var sum index.Summary
	for one, err := range s.List(t.Context(), index.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		sum = one
	}
	if sum.ID != id || sum.Title != "From there" || sum.Dir != "/there" || sum.Messages != 3 || sum.Usage.Cost != 0.5 || sum.Entries != 6 ||
		!sum.Created.Equal(events[0].Time) || !sum.Updated.Equal(events[5].Time) {
		t.Errorf("the summary is %+v", sum)
	}
	more := add(t, openWriter(t, s, id), user("go on"))
	if more[0].Seq != 7 || more[0].Parent != "three" {
		t.Errorf("it continues with %+v", more[0])
	}

	blank, err := s.Import(t.Context(), imported([]session.Event{{Body: session.Created{}}, {Body: user("hello")}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range read(t, s, blank) {
		if e.ID == "" || e.Time.IsZero() {
			t.Errorf("%+v was left without an ID or a time", e)
		}
	}
}

func testImportRefused(t *testing.T, s index.Store) {
	broken := errors.New("broken")
	with := func(e session.Event) []session.Event { return append(elsewhere(), e) }
	for _, c := range []struct {
		name   string
		events []session.Event
		end    error
		want   error // nil: any
	}{
		{"an error at the end", elsewhere(), broken, broken},
		{"an error at the beginning", nil, broken, broken},
		{"nothing", nil, nil, nil},
		{"no root", elsewhere()[1:], nil, nil},
		{"a head to nowhere", with(session.Event{Body: session.Head{To: "nowhere"}}), nil, session.ErrNotFound},
		{"a head to an annotation", with(session.Event{Body: session.Head{To: "name"}}), nil, session.ErrNotFound},
		{"an ID twice", with(session.Event{ID: "two", Body: user("again")}), nil, session.ErrExists},
		{"a transient event", with(session.Event{Body: live.Notice{Text: "x"}}), nil, nil},
		{"no body", with(session.Event{ID: "x"}), nil, nil},
	} {
		id, err := s.Import(t.Context(), imported(c.events, c.end))
		if err == nil || id != "" || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", c.name, id, err)
		}
	}
	for range s.List(t.Context(), index.Query{}) {
		t.Fatal("something was kept of an import that failed")
	}
	if _, err := s.Import(t.Context(), imported(elsewhere(), nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), imported(elsewhere(), nil)); !errors.Is(err, session.ErrExists) {
		t.Errorf("the same again: %v", err)
	}
}

// An entry that was imported is marked as such for ever, by the store alone: whatever the source says, in a fork, and in every way to read it.
func testClaims(t *testing.T, s index.Store) {
	events := elsewhere()
	for i := range events {
		events[i].Imported = i%2 == 0
	}
	id, err := s.Import(t.Context(), imported(events, nil))
	if err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, s, id)
	own := add(t, w, answer("yes"), user("go on"))
	annotate(t, s, id, session.Title{Title: "mine"})
	fork, err := s.Create(t.Context(), session.Created{Fork: true, From: session.Origin{Session: id, Entry: own[0].ID}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	marks := func(events []session.Event) (out string) {
		for _, e := range events {
			if e.Imported {
				out += "+"
			} else {
				out += "-"
			}
		}
		return out
	}
	for _, c := range []struct{ name, got, want string }{
		{"read", marks(read(t, s, id)), "++++++---"},
		{"the branch", marks(back(t, s, id, "")), "--++++"},
		{"messages", marks(all(t, s.Read(t.Context(), id, 0, "message"))), "+++--"},
		{"a fork", marks(back(t, s, fork, "")), "--++++"},
	} {
		if c.got != c.want {
			t.Errorf("%s: the imported entries are %s, want %s", c.name, c.got, c.want)
		}
	}
	if err := s.Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := marks(back(t, s, fork, "")); got != "--++++" {
		t.Errorf("the fork of a purged session: the imported entries are %s", got)
	}
}

// Only the own entries of a session count as spent.
func testClaimsSpend(t *testing.T, s index.Store) {
	id, err := s.Import(t.Context(), imported(elsewhere(), nil))
	if err != nil {
		t.Fatal(err)
	}
	paid := llm.AssistantText("yes")
	paid.Model, paid.Usage = "test/model", llm.Usage{Output: 3, Cost: 0.25}
	before := session.Now()
	add(t, openWriter(t, s, id), session.Message{Message: paid})
	for since, want := range map[time.Time]float64{{}: 0.25, before: 0.25, before.Add(time.Hour): 0} {
		if spent, err := s.Spent(t.Context(), since); err != nil || spent.Cost != want {
			t.Errorf("spent since %v: %v, %v", since, spent, err)
		}
	}
	for row, err := range s.Usage(t.Context(), index.UsageQuery{}) {
		if err != nil || row.Usage.Cost != 0.75 {
			t.Errorf("the usage is %+v, %v", row, err)
		}
	}
}
