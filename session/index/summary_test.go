package index_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

func TestSummaryFollowsEntries(t *testing.T) {
	answer := llm.AssistantText("ok")
	answer.Model, answer.Usage = "p/m", llm.Usage{Input: 5, Cost: 0.5}
	steps := []struct {
		body session.Body
		want index.Summary
	}{
		{session.Created{Dir: "/x"}, index.Summary{Dir: "/x"}},
		{session.Message{Message: llm.UserText("\n  Find   the bug \nin main"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}, index.Summary{Title: "Find the bug", Messages: 1}},
		{session.Message{Message: answer}, index.Summary{Title: "Find the bug", Messages: 2, Model: "p/m", Usage: answer.Usage}},
		{session.Message{Message: answer}, index.Summary{Title: "Find the bug", Messages: 3, Model: "p/m", Usage: answer.Usage.Plus(answer.Usage)}},
		{session.Title{Title: "The bug"}, index.Summary{Title: "The bug", Named: true, Messages: 3}},
		{session.Message{Message: llm.UserText("More"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}, index.Summary{Title: "The bug", Named: true, Messages: 4}},
		{session.Message{Message: llm.Message{Role: llm.RoleTool}}, index.Summary{Title: "The bug", Named: true, Messages: 4}},
	}
	var sum index.Summary
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
		var sum index.Summary
		sum.Add(session.Event{Seq: 1, Body: session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}}})
		if sum.Title != want {
			t.Errorf("%.20q… is titled %q, want %q", text, sum.Title, want)
		}
	}
}
