package index_test

import (
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// Whatever a model was paid for counts, by the model that was.
func TestConsumed(t *testing.T) {
	u := llm.Usage{Input: 3, Cost: 0.5}
	answer := llm.AssistantText("a")
	answer.Model, answer.Usage = "p/m", u
	for _, b := range []session.Body{
		session.Message{Message: answer},
		session.Summarized{By: "p/m", Usage: u},
		session.Title{By: "p/m", Usage: u},
		session.Note{By: "p/m", Usage: u},
	} {
		if model, got, ok := view.Consumed(b); model != "p/m" || got != u || !ok {
			t.Errorf("%T: %q consumed %+v, %t", b, model, got, ok)
		}
	}
	for _, b := range []session.Body{session.Message{Message: llm.UserText("a"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}, session.Note{Text: "a"}, session.RunStarted{}} {
		if _, _, ok := view.Consumed(b); ok {
			t.Errorf("%T consumed something", b)
		}
	}
}

// A call has failed by its outcome, not by what the model was shown: a denial is no error of a tool.
func TestRowOfACall(t *testing.T) {
	call := llm.ToolCall{ID: "c", Name: "read"}
	for _, c := range []struct {
		isError bool
		outcome session.Outcome
		failed  int
	}{{false, session.OutcomeOK, 0}, {true, session.OutcomeOK, 0}, {true, session.OutcomeFailed, 1}, {false, session.OutcomeSkipped, 1}} {
		e := session.Event{Seq: 7, Body: session.Message{Message: llm.ToolText(call, "four", c.isError), Outcome: c.outcome}}
		r, ok := index.RowOf(e, true)
		if !ok || r.Tool != "read" || r.Calls != 1 || r.Failed != c.failed || r.Bytes != 4 || r.Seq != 7 {
			t.Errorf("%+v: got %+v, %t", c, r, ok)
		}
		if _, ok := index.RowOf(e, false); ok {
			t.Error("a call counts although calls do not")
		}
	}
}

// The end of a time is not in it, its beginning is.
func TestTallyInATime(t *testing.T) {
	at := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		since, until time.Time
		want         int
	}{{time.Time{}, time.Time{}, 1}, {at, at.Add(1), 1}, {at.Add(1), time.Time{}, 0}, {time.Time{}, at, 0}} {
		tally := index.NewTally(index.UsageQuery{Since: c.since, Until: c.until})
		tally.Add(index.UsageRow{Time: at, Answers: 1})
		if got := len(tally.Rows()); got != c.want {
			t.Errorf("since %v until %v: %d rows, want %d", c.since, c.until, got, c.want)
		}
	}
}
