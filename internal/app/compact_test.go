package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// If Compact makes no summary, it says why.
func TestNothingToSumUp(t *testing.T) {
	w := newWorkplace(t)
	w.script()
	w.open()
	w.ask("Fix the leak in the cellar.")
	for range 2 {
		_, problem, err := w.agent.Compact(t.Context(), "the leak")
		if err != nil || !strings.Contains(problem, "nothing to summarize") {
			t.Errorf("problem %q, %v", problem, err)
		}
	}
}

// Short runs on a session above its threshold cost one summary, although each of them ends before the summary is written.
func TestShortRunsCostOneSummary(t *testing.T) {
	w := newWorkplace(t)
	var asked atomic.Int32
	written := make(chan struct{})
	w.sum = func(context.Context) {
		asked.Add(1)
		<-written
	}
	w.answer = func(*llm.Request) llm.Message {
		return llm.AssistantText("On. " + strings.Repeat("The work goes on. ", 150))
	}
	w.open()
	for len(of[live.Compacting](w.ask("Go on."))) == 0 { // until a run begins one
	}
	w.answer = func(*llm.Request) llm.Message { return llm.AssistantText("Yes.") }
	close(written)
	for range 5 {
		w.again()
		w.ask("Short?")
		w.wants(w.sent(0), "Summed up.")
	}
	w.close()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d summaries", n)
	}
}

// If a person cancels the run, Close does not wait for the summary. What it has sent counts.
func TestACancelledSummaryCounts(t *testing.T) {
	w := newWorkplace(t)
	begun := make(chan struct{})
	w.sum = func(ctx context.Context) {
		close(begun)
		<-ctx.Done()
	}
	w.answer = func(*llm.Request) llm.Message {
		return llm.AssistantText("On. " + strings.Repeat("The work goes on. ", 150))
	}
	w.open()
	for len(of[live.Compacting](w.ask("Go on."))) == 0 {
	}
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	w.answer = func(*llm.Request) llm.Message {
		cancel()
		return calls("read", `{"path": "f.txt"}`)
	}
	for range w.agent.Run(ctx, llm.UserText("Stop.")) {
	}
	id := w.agent.Session()
	w.close()
	var notes []session.Note
	for e, err := range w.app.Store.Read(t.Context(), id, 0, session.Note{}.Kind()) {
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, e.Body.(session.Note))
	}
	if len(notes) != 1 || notes[0].Usage.Input < smallWindow/2 || notes[0].By != "test/small" {
		t.Errorf("notes %+v", notes)
	}
}

// The failures of summaries survive the process: the next one does not begin a summary at once, and after two failures it writes summaries without
// a model. A person's request always asks the model. The end of the failures is remembered, too.
func TestFailuresOfSummariesSurvive(t *testing.T) {
	w := newWorkplace(t)
	var asked atomic.Int32
	w.sum = func(context.Context) { asked.Add(1) }
	w.failing = &llm.Error{Kind: llm.KindQuota, Model: "test/small", Message: "the key sk-planted has no credit"}
	long := func(*llm.Request) llm.Message {
		return llm.AssistantText("On. " + strings.Repeat("The work goes on. ", 150))
	}
	short := func(*llm.Request) llm.Message { return llm.AssistantText("Yes.") }
	ended := func() int {
		n := 0
		for _, c := range of[live.Compacting](w.events) {
			if c.Done {
				n++
			}
		}
		return n
	}
	w.answer = long
	w.open()
	for ended() == 0 {
		w.ask("Go on.")
	}
	fact := state.Summary + string(w.agent.Session())
	facts := state.In(w.app.Dir)
	if f := facts.Facts()[fact]; f.Count != int(asked.Load()) || f.Text != "test/small: quota" {
		t.Fatalf("after %d requests: %+v", asked.Load(), f)
	}
	for asked.Load() < 2 {
		w.ask("Go on.")
	}
	w.ask("Go on.")
	w.again() // as another process
	w.events = nil
	for ended() < 2 {
		w.ask("Go on.")
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the second process asked the model %d times", n-2)
	}
	w.failing, w.answer = nil, short
	w.again()
	if _, problem, err := w.agent.Compact(t.Context(), ""); err != nil || problem != "" || asked.Load() != 3 {
		t.Errorf("asked %d times, problem %q, %v", asked.Load(), problem, err)
	}
	if all := facts.Facts(); len(all) != 0 {
		t.Errorf("after a summary: %+v", all)
	}
}
