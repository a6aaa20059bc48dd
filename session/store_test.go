package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

func TestCheck(t *testing.T) {
	message := session.Message{Message: llm.UserText("x")}
	for _, c := range []struct {
		what       string
		annotation bool
		body       session.Body
		says       string // of the error; empty: none
	}{
		{"a message", false, message, ""},
		{"a title with a lease", false, session.Title{}, ""},
		{"a title without", true, session.Title{}, ""},
		{"a draft without", true, session.Queued{}, ""},
		{"a message without", true, message, "append it with a Writer"},
		{"nil", false, nil, "nil body"},
		{"a passing moment", false, session.Delta{}, "delta is a passing moment"},
		{"a kind of the future", false, session.Opaque{Name: "later", JSON: []byte(`{}`)}, ""},
		{"a kind of the future without", true, session.Opaque{Name: "later", JSON: []byte(`{}`)}, "append it with a Writer"},
		{"a known kind as opaque", false, session.Opaque{Name: "delta", JSON: []byte(`{}`)}, `kind "delta"`},
		{"opaque and no JSON", false, session.Opaque{Name: "later", JSON: []byte(`{`)}, "the body JSON"},
		{"opaque and empty", false, session.Opaque{Name: "later"}, "the body JSON"},
	} {
		err := session.Check(c.annotation, session.Note{}, c.body)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.says)
		}
	}
}

func TestSummaryFollowsEntries(t *testing.T) {
	answer := llm.AssistantText("ok")
	answer.Model, answer.Usage = "p/m", llm.Usage{Input: 5, Cost: 0.5}
	steps := []struct {
		body session.Body
		want session.Summary
	}{
		{session.Created{Dir: "/x"}, session.Summary{Dir: "/x"}},
		{session.Message{Message: llm.UserText("\n  Find   the bug \nin main")}, session.Summary{Title: "Find the bug", Messages: 1}},
		{session.Message{Message: answer}, session.Summary{Title: "Find the bug", Messages: 2, Model: "p/m", Usage: answer.Usage}},
		{session.Message{Message: answer}, session.Summary{Title: "Find the bug", Messages: 3, Model: "p/m", Usage: answer.Usage.Plus(answer.Usage)}},
		{session.Title{Title: "The bug"}, session.Summary{Title: "The bug", Named: true, Messages: 3}},
		{session.Message{Message: llm.UserText("More")}, session.Summary{Title: "The bug", Named: true, Messages: 4}},
		{session.Message{Message: llm.Message{Role: llm.RoleTool}}, session.Summary{Title: "The bug", Named: true, Messages: 4}},
	}
	var sum session.Summary
	begin := session.Now()
	for i, step := range steps {
		e := session.Event{Seq: int64(i + 1), Time: begin.Add(time.Duration(i) * time.Second), Body: step.body}
		sum.Add(e)
		got, want := sum, step.want
		if got.Title != want.Title || got.Named != want.Named || got.Messages != want.Messages ||
			want.Model != "" && (got.Model != want.Model || got.Usage != want.Usage) ||
			got.Dir != "/x" || got.Entries != e.Seq || got.Created != begin || got.Updated != e.Time {
			t.Errorf("after entry %d: %+v", e.Seq, got)
		}
	}
}

func TestTitlesAreCutBetweenWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		" \n ":                      "",
		strings.Repeat("word ", 20): strings.TrimSpace(strings.Repeat("word ", 12)) + "…",
		strings.Repeat("ü", 70):     strings.Repeat("ü", 60) + "…",
		strings.Repeat("x", 60):     strings.Repeat("x", 60),
		"a\xffb":                    "a\xffb",
		strings.Repeat("🦉", 3<<10) + " and on": strings.Repeat("🦉", 60) + "…",
	} {
		var sum session.Summary
		sum.Add(session.Event{Seq: 1, Body: session.Message{Message: llm.UserText(text)}})
		if sum.Title != want {
			t.Errorf("%.20q… is titled %q, want %q", text, sum.Title, want)
		}
	}
}

func TestLeaseErrorsSayWho(t *testing.T) {
	since := time.Date(2027, 1, 2, 3, 4, 5, 0, time.Local).UTC() // people are told their own time
	for want, err := range map[string]error{
		"session s is being written by tenon, pid 1 since 2027-01-02 03:04:05": &session.LockedError{Session: "s", Owner: "tenon, pid 1", Since: since},
		"session s was taken over by tenon, pid 2":                             &session.FencedError{Session: "s", Owner: "tenon, pid 2"},
		"session s is no longer ours to write":                                 &session.FencedError{Session: "s"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
