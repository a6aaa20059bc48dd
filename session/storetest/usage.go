package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
)

func testUsage(t *testing.T, s index.Store) {
	usage := func(q index.UsageQuery) []index.UsageRow {
		t.Helper()
		return all(t, s.Usage(t.Context(), q))
	}
	if got := usage(index.UsageQuery{By: []index.Group{index.GroupModel}}); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	result := func(tool, text string, o session.Outcome) session.Body {
		return session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c", Name: tool}, text, o != ""), Outcome: o}
	}
	a, w := start(t, s)
	run := func(w session.Writer, started session.RunStarted, bodies ...session.Body) []session.Event {
		t.Helper()
		started.Run = session.NewID()
		events, err := w.Append(t.Context(), session.Stamp{Run: started.Run}, append([]session.Body{started}, bodies...)...)
		if err != nil {
			t.Fatal(err)
		}
		more, err := w.Append(t.Context(), session.Stamp{Run: started.Run}, session.RunEnded{})
		if err != nil {
			t.Fatal(err)
		}
		return append(events, more...)
	}
	one := llm.Usage{Input: 10, CacheRead: 90, Output: 5, Cost: 0.5}
	first := run(w, session.RunStarted{}, user("x"), priced("p/a", one), result("read", "12345", ""), priced("p/b", one),
		result("read", "123", session.OutcomeFailed), result("shell", "1", ""), priced("p/b", llm.Usage{}))
	run(w, session.RunStarted{Tag: "again"}, priced("p/a", one), session.Summarized{By: "p/s", Usage: llm.Usage{Input: 1000, Cost: 1}})
	b, err := s.Create(t.Context(), session.Created{Dir: "/b"})
	if err != nil {
		t.Fatal(err)
	}
	w2 := openWriter(t, s, b)
	run(w2, session.RunStarted{Trigger: live.TriggerSubAgent}, priced("p/a", one), result("read", "1", session.OutcomeDenied))
	total := one.Plus(one).Plus(one).Plus(one).Plus(llm.Usage{Input: 1000, Cost: 1})
	day := first[0].Time.Format(time.DateOnly)
	two, three := one.Plus(one), one.Plus(one).Plus(one)
	written := llm.Usage{Input: 1000, Cost: 1}
	for _, c := range []struct {
		what string
		q    index.UsageQuery
		want []index.UsageRow
	}{
		{"all", index.UsageQuery{}, []index.UsageRow{{Answers: 5, Usage: total}}},
		{"day", index.UsageQuery{By: []index.Group{index.GroupDay}}, []index.UsageRow{{Day: day, Answers: 5, Usage: total}}},
		{"model", index.UsageQuery{By: []index.Group{index.GroupModel}}, []index.UsageRow{
			{Model: "p/a", Answers: 3, Usage: three}, {Model: "p/b", Answers: 1, Usage: one}, {Model: "p/s", Answers: 1, Usage: written},
		}},
		{"agent", index.UsageQuery{By: []index.Group{index.GroupAgent}}, []index.UsageRow{
			{Agent: "", Answers: 2, Usage: two},
			{Agent: "again", Answers: 2, Usage: one.Plus(written)},
			{Agent: "sub-agent", Answers: 1, Usage: one},
		}},
		{"tool", index.UsageQuery{By: []index.Group{index.GroupTool}}, []index.UsageRow{
			{Answers: 5, Usage: total}, {Tool: "read", Calls: 3, Failed: 2, Bytes: 9}, {Tool: "shell", Calls: 1, Bytes: 1},
		}},
		{"tool of the sub-agent", index.UsageQuery{By: []index.Group{index.GroupTool, index.GroupAgent}, Session: b}, []index.UsageRow{
			{Agent: "sub-agent", Answers: 1, Usage: one}, {Agent: "sub-agent", Tool: "read", Calls: 1, Failed: 1, Bytes: 1},
		}},
		{"session", index.UsageQuery{Session: a}, []index.UsageRow{{Answers: 4, Usage: three.Plus(written)}}},
		{"dir", index.UsageQuery{Dir: "/b", By: []index.Group{index.GroupSession}}, []index.UsageRow{{Session: b, Answers: 1, Usage: one}}},
		{"no such dir", index.UsageQuery{Dir: "/c"}, nil},
		{"answers", index.UsageQuery{Session: b, By: []index.Group{index.GroupAnswer, index.GroupModel}}, []index.UsageRow{
			{Session: b, Model: "p/a", Seq: 3, Answers: 1, Usage: one},
		}},
		{"future", index.UsageQuery{Since: time.Now().Add(time.Hour)}, nil},
		{"past", index.UsageQuery{Until: first[0].Time}, nil},
	} {
		got := usage(c.q)
		for i := range got {
			if c.what == "answers" && got[i].Time.IsZero() {
				t.Error("an answer has no time")
			}
			got[i].Time = time.Time{}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("by %s:\ngot  %+v\nwant %+v", c.what, got, c.want)
		}
	}
	east := time.FixedZone("east", 14*3600)
	got := usage(index.UsageQuery{By: []index.Group{index.GroupDay}, Zone: east})
	if want := first[0].Time.In(east).Format(time.DateOnly); len(got) != 1 || got[0].Day != want {
		t.Errorf("far in the east the days are %+v, want %s", got, want)
	}
	if err := errors.Join(w.Close(), w2.Close(), s.Delete(t.Context(), a), s.Purge(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	got = usage(index.UsageQuery{By: []index.Group{index.GroupTool}})
	if len(got) != 3 || got[0].Usage != three.Plus(written) || got[1].Calls != 2 {
		t.Errorf("with one in the trash and one purged: %+v", got)
	}
	for range s.Usage(t.Context(), index.UsageQuery{}) {
		break
	}
}

func testCheck(t *testing.T, s index.Store) {
	id, w := start(t, s)
	events := add(t, w, session.RunStarted{Tag: "x"}, user("hello"), priced("p/a", llm.Usage{Input: 1, Cost: 0.1}),
		session.Summarized{Usage: llm.Usage{Input: 2, Cost: 0.2}}, session.Tags{Tags: []string{"a"}})
	add(t, w, session.Head{To: events[1].ID}, priced("p/b", llm.Usage{Output: 1, Cost: 0.3}))
	forked, w2 := fork(t, s, id, "")
	add(t, w2, session.Head{To: events[0].ID}, user("mill"))
	second, w3 := fork(t, s, forked, "")
	if _, err := s.PutBlob(t.Context(), second, []byte("data")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), w2.Close(), w3.Close(), s.Delete(t.Context(), second), s.Purge(t.Context(), forked)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, repair := range []bool{false, true} {
			if got := all(t, s.Check(t.Context(), repair)); len(got) != 0 {
				t.Errorf("with repair %v: %+v", repair, got)
			}
		}
		if err := s.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
