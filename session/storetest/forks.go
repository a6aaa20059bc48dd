package storetest

import (
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
	"github.com/tenon-agent/tenon/session/view"
)

// fork creates a session that goes on from an entry of another and opens it.
func fork(t *testing.T, s index.Store, from session.SessionID, entry session.ID) (session.SessionID, session.Writer) {
	t.Helper()
	id, err := s.Create(t.Context(), session.Created{From: session.Origin{Session: from, Entry: entry}, Fork: true})
	if err != nil {
		t.Fatalf("fork: %v", err)
	}
	return id, openWriter(t, s, id)
}

// reverse is the entries newest first.
func reverse(entries []session.Event) []session.Event {
	out := make([]session.Event, 0, len(entries))
	for i := range entries {
		out = append(out, entries[len(entries)-1-i])
	}
	return out
}

func back(t *testing.T, s index.Store, id session.SessionID, leaf session.ID) []session.Event {
	t.Helper()
	return all(t, s.Backward(t.Context(), id, leaf))
}

func testFork(t *testing.T, s index.Store) {
	parent, w := start(t, s)
	root := read(t, s, parent)[0]
	said := add(t, w, user("one"), answer("two"), user("three"), answer("four"))
	annotate(t, s, parent, session.Note{Text: "of the parent"}, session.FilesChanged{Cause: session.ByTool})
	id, fw := fork(t, s, parent, said[1].ID)

	own := read(t, s, id)
	if len(own) != 1 || own[0].ID != id || own[0].Seq != 1 || own[0].Parent != said[1].ID {
		t.Fatalf("a fork begins with %s", texts(t, own))
	}
	inherited := []session.Event{said[1], said[0], root}
	same(t, "the branch of a new fork", back(t, s, id, ""), append(reverse(own), inherited...))
	own = append(own, add(t, fw, user("another three"))...)
	add(t, w, answer("five"))
	same(t, "its own entries", read(t, s, id), own)
	same(t, "its branch", back(t, s, id, ""), append(reverse(own), inherited...))
	same(t, "from the middle", back(t, s, id, said[0].ID), inherited[1:])
	same(t, "the parent", back(t, s, parent, said[3].ID), append(reverse(said), root))
	if notes := all(t, aside(t.Context(), s, id)); len(notes) != 0 {
		t.Errorf("it inherited %s", texts(t, notes))
	}
	sum := summary(t, s, id)
	if !sum.Fork || sum.From != (session.Origin{Session: parent, Entry: said[1].ID}) || sum.Messages != 1 || sum.Title != "another three" {
		t.Errorf("the summary is %+v", sum)
	}

	// A head may lead over the fork's beginning, and the branch goes on from there.
	head := add(t, fw, session.Head{To: said[0].ID, Reason: "rewind"}, answer("another two"))
	if head[0].Parent != said[0].ID {
		t.Fatalf("the head goes on from %s", head[0].Parent)
	}
	same(t, "after a rewind", back(t, s, id, ""), []session.Event{head[1], head[0], said[0], root})
	branch, err := view.NewBranch(t.Context(), s, id)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		same(t, "as a Branch", all(t, branch.Backward(t.Context())), []session.Event{head[1], head[0], said[0], root})
	}
	branch.Append(add(t, fw, session.Head{To: said[1].ID})[0])
	same(t, "as a Branch after a rewind", all(t, branch.Backward(t.Context()))[1:], inherited)
}

func testForkOfTheLiving(t *testing.T, s index.Store) {
	parent, w := start(t, s)
	said := add(t, w, user("one"))
	id, fw := fork(t, s, parent, "")
	if from := read(t, s, id)[0].Body.(session.Created).From.Entry; from != said[0].ID {
		t.Errorf("it goes on from %q", from)
	}
	later := add(t, w, answer("two"))
	isErr(t, "what came later", failure(t, s.Backward(t.Context(), id, later[0].ID)), session.ErrNotFound)
	_, err := fw.Append(t.Context(), session.Stamp{}, session.Head{To: later[0].ID})
	isErr(t, "a head to what came later", err, session.ErrNotFound)
	isErr(t, "an entry of the fork in its parent", failure(t, s.Backward(t.Context(), parent, id)), session.ErrNotFound)

	// A session that was only spawned shares nothing.
	spawned, err := s.Create(t.Context(), session.Created{From: session.Origin{Session: parent, Entry: said[0].ID}})
	if err != nil {
		t.Fatal(err)
	}
	if got := back(t, s, spawned, ""); len(got) != 1 || summary(t, s, spawned).Fork {
		t.Errorf("a session that was spawned has the branch %s", texts(t, got))
	}
}

func testForks(t *testing.T, s index.Store) {
	const depth = 50
	id, w := start(t, s)
	want := read(t, s, id)
	for i := range depth {
		want = append(want, add(t, w, user(fmt.Sprint("question ", i)), answer(fmt.Sprint("answer ", i)))...)
		annotate(t, s, id, session.Note{Text: "n"})
		id, w = fork(t, s, id, want[len(want)-1].ID)
		want = append(want, read(t, s, id)...)
	}
	same(t, "the branch", back(t, s, id, ""), reverse(want))
	same(t, "from the first question", back(t, s, id, want[1].ID), reverse(want[:2]))
	head := add(t, w, session.Head{To: want[2].ID})
	same(t, "back to the first answer", back(t, s, id, ""), append(reverse(head), reverse(want[:3])...))

	// A fork may go on from what its origin inherited itself.
	other, _ := fork(t, s, id, want[1].ID)
	same(t, "from what was inherited", back(t, s, other, ""), append(reverse(read(t, s, other)), reverse(want[:2])...))
	isErr(t, "past that", failure(t, s.Backward(t.Context(), other, want[2].ID)), session.ErrNotFound)
}

func testForkRefused(t *testing.T, s index.Store) {
	parent, w := start(t, s)
	add(t, w, user("one"))
	note := annotate(t, s, parent, session.Note{Text: "n"})[0].ID
	for what, from := range map[string]session.Origin{
		"no session":         {Entry: parent},
		"an unknown session": {Session: session.NewID()},
		"an unknown entry":   {Session: parent, Entry: session.NewID()},
		"an annotation":      {Session: parent, Entry: note},
	} {
		id, err := s.Create(t.Context(), session.Created{From: from, Fork: true})
		if id != "" {
			t.Errorf("%s: it was created", what)
		}
		isErr(t, what, err, session.ErrNotFound)
	}
	if got := all(t, s.List(t.Context(), index.Query{})); len(got) != 1 {
		t.Errorf("%d sessions", len(got))
	}
}

// trashed are the IDs in the trash, or out of it.
func listed(t *testing.T, s index.Store, deleted bool) []session.SessionID {
	t.Helper()
	ids := []session.SessionID{}
	for _, one := range all(t, s.List(t.Context(), index.Query{Deleted: deleted})) {
		ids = append(ids, one.ID)
	}
	return ids
}

func testTrash(t *testing.T, s index.Store) {
	id, w := start(t, s)
	add(t, w, user("hello"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if in, out := listed(t, s, true), listed(t, s, false); len(in) != 1 || in[0] != id || len(out) != 0 {
		t.Errorf("in the trash are %q, out of it %q", in, out)
	}
	entries := read(t, s, id)
	last := entries[len(entries)-1]
	if len(entries) != 3 || last.Body != (session.Deleted{}) {
		t.Errorf("its entries are %s", texts(t, entries))
	}
	for _, one := range all(t, s.List(t.Context(), index.Query{Deleted: true})) {
		if !one.Deleted.Equal(last.Time) {
			t.Errorf("it was deleted %v", one.Deleted)
		}
	}
	if got := back(t, s, id, ""); len(got) != 2 {
		t.Errorf("its branch is %s", texts(t, got))
	}
	_, err := s.Open(t.Context(), id, session.Lease{TakeOver: true})
	isErr(t, "open", err, session.ErrNotFound)
	forked, _ := fork(t, s, id, "")

	for range 2 {
		if err := s.Restore(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if in, out := listed(t, s, true), listed(t, s, false); len(in) != 0 || len(out) != 2 {
		t.Errorf("after restoring, in the trash are %q, out of it %q", in, out)
	}
	if got := summary(t, s, id); !got.Deleted.IsZero() || got.Entries != 4 {
		t.Errorf("the summary is %+v", got)
	}
	add(t, openWriter(t, s, id), answer("on"))
	if len(back(t, s, forked, "")) != 3 {
		t.Error("a fork of what was in the trash is not whole")
	}
}

func testPurge(t *testing.T, s index.Store) {
	id, w := start(t, s)
	other, _ := start(t, s)
	entries := add(t, w, user("hello"), priced("p/a", llm.Usage{Input: 1}))
	hash, err := s.PutBlob(t.Context(), id, []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	isErr(t, "read", failure(t, s.Read(t.Context(), id, 0)), session.ErrNotFound)
	isErr(t, "backward", failure(t, s.Backward(t.Context(), id, entries[0].ID)), session.ErrNotFound)
	isErr(t, "purge again", s.Purge(t.Context(), id), session.ErrNotFound)
	isErr(t, "restore", s.Restore(t.Context(), id), session.ErrNotFound)
	_, err = s.Blob(t.Context(), hash)
	isErr(t, "its blob", err, session.ErrNotFound)
	list := all(t, s.List(t.Context(), index.Query{}))
	if len(list) != 1 || list[0].ID != other {
		t.Errorf("left are %+v", list)
	}
	if fresh := create(t, s); len(read(t, s, fresh)) != 1 {
		t.Error("a new session has entries of a purged one")
	}
}

func testPurgeForked(t *testing.T, s index.Store) {
	first, w := start(t, s)
	said := add(t, w, user("one"), answer("two"))
	later := add(t, w, priced("p/a", llm.Usage{Input: 5}))
	hash, err := s.PutBlob(t.Context(), first, []byte("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	second, w2 := fork(t, s, first, said[1].ID)
	more := add(t, w2, user("three"))
	third, w3 := fork(t, s, second, more[0].ID)
	whole := back(t, s, third, "")
	for _, one := range []session.Writer{w, w2, w3} {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []session.SessionID{first, second} {
		if err := s.Purge(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		isErr(t, "read", failure(t, s.Read(t.Context(), id, 0)), session.ErrNotFound)
		isErr(t, "backward", failure(t, s.Backward(t.Context(), id, "")), session.ErrNotFound)
		isErr(t, "annotations", failure(t, aside(t.Context(), s, id)), session.ErrNotFound)
		_, err := s.Annotate(t.Context(), id, session.Note{})
		isErr(t, "annotate", err, session.ErrNotFound)
		_, err = s.Create(t.Context(), session.Created{From: session.Origin{Session: id}, Fork: true})
		isErr(t, "fork", err, session.ErrNotFound)
		isErr(t, "purge again", s.Purge(t.Context(), id), session.ErrNotFound)
		same(t, "the fork", back(t, s, third, ""), whole)
	}
	if ids := append(listed(t, s, false), listed(t, s, true)...); len(ids) != 1 || ids[0] != third {
		t.Errorf("listed are %q", ids)
	}
	if u, err := s.Spent(t.Context(), later[0].Time); err != nil || u != (llm.Usage{}) {
		t.Errorf("a purged session counts: %+v, %v", u, err)
	}
	if hits := found(t, s, search.Request{Text: "one"}); len(hits) != 0 {
		t.Errorf("a purged session is found: %+v", hits)
	}
	head := add(t, openWriter(t, s, third), session.Head{To: said[0].ID})
	same(t, "a rewind into what was purged", back(t, s, third, "")[1:], back(t, s, third, said[0].ID))
	if head[0].Parent != said[0].ID {
		t.Errorf("the head goes on from %s", head[0].Parent)
	}
	if data, err := s.Blob(t.Context(), hash); err != nil || string(data) != "a picture" {
		t.Errorf("a blob of what was inherited: %q, %v", data, err)
	}
	fourth, w4 := fork(t, s, third, said[1].ID)
	if err := w4.Close(); err != nil {
		t.Fatal(err)
	}
	w5, err := s.Open(t.Context(), third, session.Lease{TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w5.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []session.SessionID{third, fourth} {
		if _, err := s.Blob(t.Context(), hash); err != nil {
			t.Errorf("before its last fork was purged: %v", err)
		}
		if err := s.Purge(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Blob(t.Context(), hash)
	isErr(t, "after its last fork was purged", err, session.ErrNotFound)
}
