package index_test

import (
	"context"
	"iter"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
)

// A session that is purged and imported again under its ID is another one.
func TestOverFollowsAnImportInPlaceOfAPurge(t *testing.T) {
	store := memory.New()
	defer store.Close()
	for _, text := range []string{"first", "second", "third"} {
		_, err := store.Import(t.Context(), events("s", text))
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range store.List(t.Context(), index.Query{}) {
			if err != nil || s.Title != text || s.Entries != 2 || s.Messages != 1 {
				t.Errorf("%+v, %v; want the title %q", s, err, text)
			}
		}
		if err := store.Purge(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
}

func events(id session.SessionID, text string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range []session.Event{{ID: id, Body: session.Created{}}, {Body: session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}}}} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// journal is a log of one session with these entries, and then this error.
type journal struct {
	session.Log
	entries []session.Event
	err     error
}

func (j journal) Sessions(context.Context) iter.Seq2[session.Listing, error] {
	return func(yield func(session.Listing, error) bool) { yield(session.Listing{ID: "s"}, nil) }
}

func (j journal) Read(context.Context, session.SessionID, int64, ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range j.entries {
			if !yield(e, nil) {
				return
			}
		}
		if j.err != nil {
			yield(session.Event{}, j.err)
		}
	}
}

func TestOverFindsGaps(t *testing.T) {
	root := session.Event{Seq: 1, ID: "s", Body: session.Created{}}
	one := session.Event{Seq: 2, ID: "a", Parent: "s", Body: session.Todo{}}
	for what, c := range map[string]struct {
		entries []session.Event
		err     error
		seq     int64
	}{
		"nothing":        {entries: []session.Event{root, one}},
		"a gap":          {entries: []session.Event{root, {Seq: 3, ID: "b", Parent: "a", Body: session.Todo{}}}, seq: 2},
		"a wrong parent": {entries: []session.Event{root, one, {Seq: 3, ID: "b", Parent: "s", Body: session.Todo{}}}, seq: 3},
		"damage":         {entries: []session.Event{root}, err: session.ErrCorrupt, seq: 2},
	} {
		log := journal{memory.New(), c.entries, c.err}
		for p, err := range index.Over(log).Check(t.Context(), false) {
			if err != nil || p.Seq != c.seq || !p.Lost {
				t.Errorf("%s: %+v, %v", what, p, err)
			}
			c.seq = 0
		}
		if c.seq != 0 {
			t.Errorf("%s was not found", what)
		}
	}
}
