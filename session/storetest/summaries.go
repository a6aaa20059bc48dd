package storetest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// priced is an answer that consumed something.
func priced(model string, u llm.Usage) session.Body {
	m := llm.AssistantText("ok")
	m.Model, m.Usage = model, u
	return session.Message{Message: m}
}

func testSummary(t *testing.T, s index.Store) {
	from := session.Origin{Session: session.NewID(), Entry: session.NewID()}
	id, err := s.Create(t.Context(), session.Created{Dir: "/somewhere", From: from})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		want := index.Summary{ID: id, Owner: t.Name()}
		for _, e := range read(t, s, id) {
			want.Add(e)
		}
		if got := summary(t, s, id); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\ngot  %+v\nwant %+v", what, got, want)
		}
	}
	w := openWriter(t, s, id)
	check("a new session")
	add(t, w, user("Find the  bug\nplease"), priced("p/a", llm.Usage{Input: 10, CacheRead: 20, CacheWrite: 30, Output: 40, Reasoning: 50, Cost: 0.25}))
	check("after an answer")
	if got := summary(t, s, id); got.Title != "Find the bug" || got.Named || got.Model != "p/a" || got.Messages != 2 || got.From != from {
		t.Fatalf("after an answer: %+v", got)
	}
	add(t, w, priced("p/b", llm.Usage{Output: 1}), priced("p/c", llm.Usage{}), user("more"))
	add(t, w, session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c"}, "x", false)}, session.Head{To: id})
	check("after more")
	add(t, w, session.RunStarted{}, session.Summarized{Summary: "s", By: "p/s", Usage: llm.Usage{Input: 1000, Cost: 0.125}}, session.RunEnded{})
	check("after a summary")
	if got := summary(t, s, id); got.Runs != 1 || got.Usage.Input != 1010 || got.Model != "p/c" {
		t.Fatalf("after a summary: %+v", got)
	}
	annotate(t, s, id, session.Tags{Tags: []string{"bug", "ünï \"code\""}})
	check("tagged")
	annotate(t, s, id, session.Title{Title: "The bug"})
	check("named")
	annotate(t, s, id, session.Note{Text: "n"})
	add(t, w, user("another input"))
	check("the name stands")
	annotate(t, s, id, session.Title{}, session.Tags{})
	check("the name and the tags taken away")
}

func testList(t *testing.T, s index.Store) {
	if got := all(t, s.List(t.Context(), index.Query{})); len(got) != 0 {
		t.Fatalf("an empty store lists %v", got)
	}
	var ids []session.SessionID
	for _, dir := range []string{"/a", "/b", "/a", "/ab", "/a"} {
		id, err := s.Create(t.Context(), session.Created{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, i := range []int{3, 0, 4, 2, 1} {
		// Times are to the microsecond: the next change is later than this one.
		for now := session.Now(); !session.Now().After(now); {
			continue
		}
		annotate(t, s, ids[i], session.Note{Text: "changed"})
	}
	list := func(q index.Query) (order []int) {
		for _, one := range all(t, s.List(t.Context(), q)) {
			order = append(order, slices.Index(ids, one.ID))
		}
		return order
	}
	first := string(ids[0][:1])
	sameFirst := slices.DeleteFunc([]int{1, 2, 4, 0, 3}, func(i int) bool { return !strings.HasPrefix(string(ids[i]), first) })
	for _, c := range []struct {
		what string
		q    index.Query
		want []int
	}{
		{"all", index.Query{}, []int{1, 2, 4, 0, 3}},
		{"limit", index.Query{Limit: 2}, []int{1, 2}},
		{"large limit", index.Query{Limit: 99}, []int{1, 2, 4, 0, 3}},
		{"dir", index.Query{Dir: "/a"}, []int{2, 4, 0}},
		{"dir and limit", index.Query{Dir: "/a", Limit: 1}, []int{2}},
		{"no such dir", index.Query{Dir: "/"}, nil},
		{"whole ID", index.Query{Prefix: string(ids[4])}, []int{4}},
		{"no such ID", index.Query{Prefix: string(ids[4]) + "x"}, nil},
		{"no pattern", index.Query{Prefix: "%"}, nil},
		{"common beginning", index.Query{Prefix: first}, sameFirst},
		{"case counts", index.Query{Prefix: strings.ToUpper(string(ids[0]))}, nil},
	} {
		if got := list(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	annotate(t, s, ids[0], session.Title{Title: "The Änderung of A"}, session.Tags{Tags: []string{"x", "y"}})
	annotate(t, s, ids[1], session.Title{Title: "the änderung of b"}, session.Tags{Tags: []string{"x y"}})
	at := summary(t, s, ids[0]).Updated
	for _, c := range []struct {
		what string
		q    index.Query
		want []int
	}{
		{"text", index.Query{Text: "ÄNDERUNG OF"}, []int{1, 0}},
		{"text and limit", index.Query{Text: "änderung", Limit: 1}, []int{1}},
		{"no such text", index.Query{Text: "%"}, nil},
		{"tag", index.Query{Tag: "x"}, []int{0}},
		{"another tag", index.Query{Tag: "x y"}, []int{1}},
		{"no such tag", index.Query{Tag: "X"}, nil},
		{"after", index.Query{After: at}, []int{1, 0}},
		{"after and before", index.Query{After: at, Before: at.Add(time.Nanosecond)}, []int{0}},
		{"before", index.Query{Before: at}, []int{2, 4, 3}},
		{"trash", index.Query{Deleted: true}, nil},
	} {
		if got := list(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	for range s.List(t.Context(), index.Query{}) {
		break
	}
}

func testSpent(t *testing.T, s index.Store) {
	spent := func(since time.Time) llm.Usage {
		t.Helper()
		u, err := s.Spent(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if got := spent(time.Time{}); got != (llm.Usage{}) {
		t.Errorf("nothing was spent, but %+v", got)
	}
	a, first := start(t, s)
	_, second := start(t, s)
	one := llm.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4, Reasoning: 5, Cost: 0.5}
	add(t, first, user("x"), priced("p/a", one), session.Summarized{By: "p/a", Usage: one}, session.Title{Title: "t", By: "p/a", Usage: one})
	early := add(t, first, priced("p/a", llm.Usage{Output: 7}))[0].Time
	for !session.Now().After(early) {
		continue
	}
	late := add(t, second, priced("p/b", llm.Usage{Input: 100}))[0].Time
	total := one.Plus(one).Plus(one).Plus(llm.Usage{Input: 100, Output: 7})
	if got := spent(time.Time{}); got != total {
		t.Errorf("in all %+v, want %+v", got, total)
	}
	if got := spent(late); got != (llm.Usage{Input: 100}) {
		t.Errorf("since the last answer %+v", got)
	}
	if got := spent(late.Add(time.Microsecond)); got != (llm.Usage{}) {
		t.Errorf("after the last answer %+v", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got := spent(time.Time{}); got != total {
		t.Errorf("with a session in the trash %+v, want %+v", got, total)
	}
	if err := s.Purge(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got := spent(time.Time{}); got != (llm.Usage{Input: 100}) {
		t.Errorf("without the purged session %+v", got)
	}
}
