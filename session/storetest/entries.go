package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/search"
	"github.com/tenon-agent/tenon/session/view"
)

func testOrder(t *testing.T, s index.Store) {
	id, w := start(t, s)
	if w.Session() != id {
		t.Errorf("the writer of %s says that it writes %s", id, w.Session())
	}
	want := read(t, s, id)
	if len(want) != 1 || want[0].Seq != 1 || want[0].ID != id || want[0].Parent != "" || want[0].Body.Kind() != "created" {
		t.Fatalf("a new session begins with %s", texts(t, want))
	}
	stamp := session.Stamp{Run: session.NewID(), Turn: 3}
	for i := range 700 { // more than a store would read at once
		bodies := slices.Repeat([]session.Body{user(fmt.Sprint("message ", i))}, 1+i%3)
		got, err := w.Append(t.Context(), stamp, bodies...)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, got...)
	}
	seen := map[session.ID]bool{}
	for i, e := range want {
		if e.Seq != int64(i+1) || e.ID == "" || seen[e.ID] {
			t.Fatalf("entry %d has number %d and ID %q", i+1, e.Seq, e.ID)
		}
		if e.Time != e.Time.UTC().Truncate(time.Microsecond) || e.Time.IsZero() {
			t.Fatalf("entry %d has time %v", i+1, e.Time)
		}
		if i > 0 && (e.Parent != want[i-1].ID || e.Run != stamp.Run || e.Turn != stamp.Turn) {
			t.Fatalf("entry %d does not fit: %+v", i+1, e)
		}
		seen[e.ID] = true
	}
	same(t, "all", read(t, s, id), want)
	for _, after := range []int64{-1, 0, 1, 500, int64(len(want)) - 1, int64(len(want)), int64(len(want)) + 9} {
		rest := want[min(max(after, 0), int64(len(want))):]
		same(t, fmt.Sprint("after ", after), all(t, s.Read(t.Context(), id, after)), rest)
	}
	if got, err := w.Append(t.Context(), stamp); got != nil || err != nil {
		t.Errorf("append of nothing: %v, %v", got, err)
	}
	for range s.Read(t.Context(), id, 0) {
		break // leaving early must leave nothing behind
	}
}

func testAllOrNothing(t *testing.T, s index.Store) {
	id, w := start(t, s)
	add(t, w, user("hello"))
	want := read(t, s, id)
	broken := session.Message{Message: llm.Message{Role: llm.RoleUser, Content: llm.Content{nil}}}
	for name, bad := range map[string]session.Body{
		"nil":               nil,
		"passing":           live.Delta{Text: "x"},
		"not to be encoded": broken,
		"opaque known kind": session.Opaque{Name: "title", JSON: []byte("{}")},
		"opaque no kind":    session.Opaque{JSON: []byte("{}")},
		"opaque no JSON":    session.Opaque{Name: "later", JSON: []byte("{")},
		"head to nowhere":   session.Head{To: session.NewID()},
		"head to nothing":   session.Head{},
	} {
		got, err := w.Append(t.Context(), session.Stamp{}, answer("a"), bad, answer("b"))
		if err == nil || got != nil {
			t.Errorf("%s: append returned %v, %v", name, got, err)
		}
		same(t, name, read(t, s, id), want)
	}
	after := add(t, w, answer("still writing"))
	same(t, "afterwards", read(t, s, id), append(want, after...))
}

func testExpect(t *testing.T, s index.Store) {
	id, w := start(t, s)
	seen := add(t, w, user("hello"))[0].Seq
	if _, err := w.Append(t.Context(), session.Stamp{Expect: seen}, answer("yes")); err != nil {
		t.Errorf("an append after entry %d: %v", seen, err)
	}
	noted := annotate(t, s, id, session.Note{Text: "aside"})[0].Seq
	want := read(t, s, id)
	for _, expect := range []int64{seen, noted - 1, noted + 1} {
		_, err := w.Append(t.Context(), session.Stamp{Expect: expect}, answer("late"))
		if stale, ok := errors.AsType[*session.StaleError](err); !ok || stale.Session != id || stale.Expect != expect || stale.Newest != noted {
			t.Errorf("an append that expects entry %d: %v", expect, err)
		}
	}
	same(t, "after refused appends", read(t, s, id), want)
	if _, err := w.Append(t.Context(), session.Stamp{Expect: noted}, answer("in time")); err != nil {
		t.Error(err)
	}
}

func testKinds(t *testing.T, s index.Store) {
	id, w := start(t, s)
	model := llm.Model{Provider: "p", ID: "m", Context: 1000, Price: llm.Price{Input: 1.25}}
	root := id
	want := add(t, w,
		session.RunStarted{Run: session.NewID(), Trigger: live.TriggerUser, Config: session.Config{
			Model: model, Tools: []string{"read"}, MaxTime: session.Duration(90 * time.Second), MaxCost: 0.1,
		}},
		session.Epoch{Reason: "start", Model: model, System: "be <kind> & brief", Tools: []llm.Tool{{Name: "read", Schema: json.RawMessage(`{}`)}}},
		session.Message{Message: llm.UserText("a\x00b ü 🦉"), Speaker: session.Speaker{Kind: session.SpeakerPerson}, Source: session.FromSteering, Draft: "d"},
		session.Partial{Content: llm.Content{llm.Thinking{Text: "hm", Signature: "s"}}},
		session.Discarded{Cause: &llm.Error{Kind: llm.KindNetwork, Message: "cut"}},
		session.Decision{Call: "c", Verdict: "allow", By: "rule"},
		session.CallStarted{Call: "c", Tool: "read", Arguments: json.RawMessage(`{"path":"x"}`)},
		session.CallStarted{Call: "c", Tool: "read", Arguments: json.RawMessage(`{}`), Again: true},
		session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c", Name: "read"}, "x", true), Details: json.RawMessage(`[1]`)},
		session.ModelChanged{Model: model, Reason: "fallback"},
		session.Rejected{Message: llm.UserText("no"), Reason: "filter"},
		session.Todo{Items: []session.TodoItem{{Text: "x", Status: "pending"}}},
		session.Title{Title: "A title"}, session.Note{Text: "a note"},
		session.FilesChanged{Cause: session.ByTool, Files: []session.FileChange{{Path: "/x", After: &session.FileState{Hash: "ab", Size: 1}}}},
		session.Queued{Draft: "d", Change: "added", Lane: session.FromFollowUp, Message: llm.UserText("later")},
		session.TaskCreated{Task: "t", Text: "look", Scope: session.Scope{Paths: []string{"/x"}}},
		session.TaskStarted{Task: "t", Attempt: 1, Session: "s"},
		session.Mail{Mail: "m", Task: "t", To: "s", Type: session.MailInstruction, Priority: session.MailUrgent, Text: "stop"},
		session.TaskSettled{Task: "t", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted, Checks: []session.TaskCheck{{Command: "go test"}}}},
		session.Goal{Goal: "all tests pass", State: session.GoalExecuting, Limits: session.GoalLimits{Money: 1.5}},
		session.ParallelStarted{Group: "g", Prompt: "p", Branches: []session.ParallelBranch{{Session: "s"}}, Judge: []string{"first"}},
		session.ParallelEnded{Group: "g", Selected: "s", Results: []session.ParallelResult{{Session: "s", Score: 0.5}}},
		session.Head{To: root, Reason: "rewind"},
		session.RunEnded{Reason: session.ReasonDone, Turns: 1, Usage: llm.Usage{Input: 1, Cost: 0.1}, Elapsed: session.Duration(time.Second)})
	same(t, "kinds", all(t, s.Read(t.Context(), id, 1)), want)
}

func testOpaque(t *testing.T, s index.Store) {
	id, w := start(t, s)
	for _, body := range []string{`{"a" : 1,  "b":"<&>\u00e9"}`, `12345678901234567890.10`, `null`, "[ \n]"} {
		add(t, w, session.Opaque{Name: "from_the_future", JSON: json.RawMessage(body)})
		entries := read(t, s, id)
		got, ok := entries[len(entries)-1].Body.(session.Opaque)
		if !ok || got.Name != "from_the_future" || string(got.JSON) != body {
			t.Errorf("%s came back as %#v", body, got)
		}
	}
}

func testLarge(t *testing.T, s index.Store) {
	id, w := start(t, s)
	text := strings.Repeat("0123456789abcdef", 10<<20/16)
	want := add(t, w, user(text), answer("short"), user(text))
	for i, e := range all(t, s.Read(t.Context(), id, 1)) {
		if e.ID != want[i].ID || e.Body.(session.Message).Text() != want[i].Body.(session.Message).Text() {
			t.Fatalf("entry %d is not what was appended", e.Seq)
		}
	}
	back := all(t, s.Backward(t.Context(), id, ""))
	if len(back) != 4 || back[0].Body.(session.Message).Text() != text {
		t.Fatalf("backward read %d entries", len(back))
	}
}

// branch is what Backward should yield, found the slow way.
func branch(entries []session.Event, leaf session.ID) []session.Event {
	byID := map[session.ID]session.Event{}
	for _, e := range entries {
		byID[e.ID] = e
	}
	var path []session.Event
	for id := leaf; id != ""; id = byID[id].Parent {
		path = append(path, byID[id])
	}
	return path
}

func testTree(t *testing.T, s index.Store) {
	id, w := start(t, s)
	first := add(t, w, user("one"), answer("two"), user("three"))
	head := add(t, w, session.Head{To: first[0].ID, Reason: "branch"}, answer("another two"))
	if head[0].Parent != first[0].ID || head[1].Parent != head[0].ID {
		t.Fatalf("after a head: %s", texts(t, head))
	}
	got := all(t, s.Backward(t.Context(), id, ""))
	same(t, "the new branch", got, []session.Event{head[1], head[0], first[0], read(t, s, id)[0]})
	same(t, "the old branch", all(t, s.Backward(t.Context(), id, first[2].ID)), branch(read(t, s, id), first[2].ID))

	title := add(t, w, session.Title{Title: "t"}, answer("after the title"))
	if title[0].Parent != "" || title[1].Parent != head[1].ID {
		t.Errorf("a title moved the branch: %s", texts(t, title))
	}
	_, err := w.Append(t.Context(), session.Stamp{}, session.Head{To: title[0].ID})
	isErr(t, "head to a title", err, session.ErrNotFound)
	other, _ := start(t, s)
	_, err = w.Append(t.Context(), session.Stamp{}, session.Head{To: other})
	isErr(t, "head to another session", err, session.ErrNotFound)
	both := add(t, w, session.Head{To: first[2].ID}, session.Head{To: id}, user("from the root"))
	if both[1].Parent != id || both[2].Parent != both[1].ID {
		t.Errorf("two heads in one append: %s", texts(t, both))
	}
}

func testLeaves(t *testing.T, s index.Store) {
	id, w := start(t, s)
	ids := []session.ID{id}
	for i := range 900 { // a bushy tree, with notes between, and branches longer than a store would read at once
		switch {
		case i%17 == 16:
			annotate(t, s, id, session.Note{Text: "n"})
		case i%90 == 89:
			ids = append(ids, add(t, w, session.Head{To: ids[i*7%len(ids)]})[0].ID)
		default:
			ids = append(ids, add(t, w, answer(fmt.Sprint(i)))[0].ID)
		}
	}
	entries := read(t, s, id)
	same(t, "the current branch", all(t, s.Backward(t.Context(), id, "")), branch(entries, ids[len(ids)-1]))
	for i := 0; i < len(ids); i += 41 {
		same(t, "a branch", all(t, s.Backward(t.Context(), id, ids[i])), branch(entries, ids[i]))
	}
	for range s.Backward(t.Context(), id, "") {
		break
	}
	few := slices.DeleteFunc(slices.Clone(entries), func(e session.Event) bool { return e.Seq <= 100 || e.Body.Kind() == "message" })
	same(t, "some kinds", all(t, s.Read(t.Context(), id, 100, "head", "created", "note", `"'`)), few)
	same(t, "a kind that is not there", all(t, s.Read(t.Context(), id, -1, "pin")), nil)
	for range s.Read(t.Context(), id, 0, "note") {
		break
	}
	note := annotate(t, s, id, session.Note{Text: "n"})[0].ID
	isErr(t, "from a note", failure(t, s.Backward(t.Context(), id, note)), session.ErrNotFound)
	isErr(t, "from nowhere", failure(t, s.Backward(t.Context(), id, session.NewID())), session.ErrNotFound)
	isErr(t, "from another session", failure(t, s.Backward(t.Context(), id, create(t, s))), session.ErrNotFound)

	path, err := view.NewBranch(t.Context(), s, id)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		same(t, "as a Branch", all(t, path.Backward(t.Context())), branch(entries, ids[len(ids)-1]))
	}
}

func testAnnotations(t *testing.T, s index.Store) {
	id, w := start(t, s)
	add(t, w, user("one"))
	want := annotate(t, s, id, session.Title{Title: "t"}, session.Note{Text: "n"})
	add(t, w, answer("two"))
	want = append(want, add(t, w, session.Queued{Draft: "d", Change: "removed"})...)
	for range 300 {
		want = append(want, annotate(t, s, id, session.Note{Text: "n"})...)
	}
	if want[0].Seq != 3 || want[1].Seq != 4 || want[2].Seq != 6 {
		t.Errorf("annotations have the numbers %d, %d, %d", want[0].Seq, want[1].Seq, want[2].Seq)
	}
	for _, e := range want {
		if e.Parent != "" {
			t.Fatalf("annotation %d has a parent", e.Seq)
		}
	}
	same(t, "annotations", all(t, aside(t.Context(), s, id)), want)
	same(t, "annotations of a kind", all(t, s.Read(t.Context(), id, 0, "title", "queued")), slices.Concat(want[:1], want[2:3]))
	same(t, "annotations of no kind there", all(t, s.Read(t.Context(), id, 0, "pin")), nil)
	for range aside(t.Context(), s, id) {
		break
	}
	if got, err := s.Annotate(t.Context(), id); got != nil || err != nil {
		t.Errorf("annotate with nothing: %v, %v", got, err)
	}
	for _, bad := range []session.Body{answer("on a branch"), live.Notice{}, nil, session.Deleted{}, session.Opaque{Name: "later", JSON: []byte("1")}} {
		if got, err := s.Annotate(t.Context(), id, session.Note{}, bad); err == nil {
			t.Errorf("annotate with %T: %v", bad, got)
		}
	}
	same(t, "after refusals", all(t, aside(t.Context(), s, id)), want)
}

func testNotFound(t *testing.T, s index.Store) {
	create(t, s)
	for _, id := range []session.SessionID{"", session.NewID()} {
		ctx := t.Context()
		_, err := s.Open(ctx, id, session.Lease{})
		isErr(t, "open", err, session.ErrNotFound)
		_, err = s.Annotate(ctx, id, session.Note{})
		isErr(t, "annotate", err, session.ErrNotFound)
		_, err = s.PutBlob(ctx, id, nil)
		isErr(t, "put a blob", err, session.ErrNotFound)
		isErr(t, "delete", s.Delete(ctx, id), session.ErrNotFound)
		isErr(t, "restore", s.Restore(ctx, id), session.ErrNotFound)
		isErr(t, "purge", s.Purge(ctx, id), session.ErrNotFound)
		isErr(t, "read", failure(t, s.Read(ctx, id, 0)), session.ErrNotFound)
		isErr(t, "watch", failure(t, s.Watch(ctx, id, 0)), session.ErrNotFound)
		isErr(t, "backward", failure(t, s.Backward(ctx, id, "")), session.ErrNotFound)
		isErr(t, "annotations", failure(t, aside(ctx, s, id)), session.ErrNotFound)
		isErr(t, "read of a kind", failure(t, s.Read(ctx, id, 0, "note")), session.ErrNotFound)
	}
	_, err := s.Blob(t.Context(), strings.Repeat("0", 64))
	isErr(t, "blob", err, session.ErrNotFound)
}

func testCancelled(t *testing.T, s index.Store) {
	id, w := start(t, s)
	want := append(read(t, s, id), add(t, w, user("a"), answer("b"))...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range s.Read(ctx, id, 0) {
		if n++; n == 1 {
			cancel()
		} else {
			isErr(t, "read on", err, context.Canceled)
		}
	}
	if n != 2 {
		t.Errorf("read yielded %d times", n)
	}
	_, err := s.Create(ctx, session.Created{})
	isErr(t, "create", err, context.Canceled)
	_, err = s.Open(ctx, id, session.Lease{TakeOver: true})
	isErr(t, "open", err, context.Canceled)
	_, err = w.Append(ctx, session.Stamp{}, answer("c"))
	isErr(t, "append", err, context.Canceled)
	_, err = s.Annotate(ctx, id, session.Note{})
	isErr(t, "annotate", err, context.Canceled)
	_, err = s.PutBlob(ctx, id, []byte("x"))
	isErr(t, "put a blob", err, context.Canceled)
	_, err = s.Blob(ctx, "x")
	isErr(t, "blob", err, context.Canceled)
	_, err = s.Spent(ctx, time.Time{})
	isErr(t, "spent", err, context.Canceled)
	isErr(t, "delete", s.Delete(ctx, id), context.Canceled)
	isErr(t, "restore", s.Restore(ctx, id), context.Canceled)
	isErr(t, "purge", s.Purge(ctx, id), context.Canceled)
	isErr(t, "index", s.Index(ctx), context.Canceled)
	isErr(t, "search", failure(t, s.Search(ctx, search.Request{Text: "a"})), context.Canceled)
	isErr(t, "usage", failure(t, s.Usage(ctx, index.UsageQuery{})), context.Canceled)
	isErr(t, "check", failure(t, s.Check(ctx, false)), context.Canceled)
	isErr(t, "backward", failure(t, s.Backward(ctx, id, "")), context.Canceled)
	isErr(t, "annotations", failure(t, aside(ctx, s, id)), context.Canceled)
	isErr(t, "list", failure(t, s.List(ctx, index.Query{})), context.Canceled)
	same(t, "afterwards", read(t, s, id), want)
	add(t, w, answer("the writer is as good as before"))
}

func testBlobs(t *testing.T, s index.Store) {
	a, b := create(t, s), create(t, s)
	put := func(id session.SessionID, data []byte) string {
		hash, err := s.PutBlob(t.Context(), id, data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Blob(t.Context(), hash)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("blob %s: %d bytes, %v", hash, len(got), err)
		}
		return hash
	}
	const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	data := []byte("abc")
	if got := put(a, data); got != known {
		t.Errorf("the SHA-256 of abc is not %s", got)
	}
	data[0] = 'x' // the stored blob does not change
	got, err := s.Blob(t.Context(), known)
	if err != nil || string(got) != "abc" {
		t.Fatalf("blob: %q, %v", got, err)
	}
	put(a, []byte("abc"))
	put(b, []byte("abc"))
	empty := put(a, nil)
	large := put(a, bytes.Repeat([]byte{0, 1, 2, 255}, 1<<20))
	before := read(t, s, a)
	same(t, "blobs are no entries", before, before[:1])

	if err := s.Purge(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{empty, large} {
		_, err := s.Blob(t.Context(), hash)
		isErr(t, "a blob without users", err, session.ErrNotFound)
	}
	if _, err := s.Blob(t.Context(), known); err != nil {
		t.Errorf("a blob that another session uses: %v", err)
	}
	if err := errors.Join(s.Purge(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Blob(t.Context(), known)
	isErr(t, "a blob without users any more", err, session.ErrNotFound)
}
