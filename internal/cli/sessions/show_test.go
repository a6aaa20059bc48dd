package sessions

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// Text of a model cannot color a terminal. The program's own text can.
func TestTranscriptOfAnAnswerThatWasCutOff(t *testing.T) {
	path := view.Entries{
		{Seq: 1, Body: session.Message{Message: llm.UserText("go"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}},
		{Seq: 2, Body: session.Message{Message: llm.Message{
			Role: llm.RoleAssistant, Model: "m\x1b[5m", Content: llm.Content{llm.Text{Text: "One."}},
		}}},
		{Seq: 3, Body: session.Partial{Content: llm.Content{llm.Text{Text: "I be\x1b[31mgan"}}}},
	}
	var out bytes.Buffer
	tr := talk{out: &out, shown: term.Harmless, palette: term.Palette{On: true}}
	if err := tr.write(t.Context(), index.Summary{}, view.State{}, path); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n\x1b[1mm [5m\x1b[0m\nOne.\n",
		"\n\x1b[1mModel\x1b[0m\nI be␛[31mgan\n\x1b[33m(broken off)\x1b[0m\n",
	} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("%q is missing in\n%q", want, out.String())
		}
	}
}

// A streamed answer appears once, an attempt that its model gave up does not, and a failed command has the mark of a failure.
func TestTranscriptWithoutDrafts(t *testing.T) {
	draft := func(text string) session.Partial { return session.Partial{Content: llm.Content{llm.Text{Text: text}}} }
	call := llm.ToolCall{ID: "c", Name: "shell", Arguments: `{"command":"make"}`}
	path := view.Entries{
		{Seq: 1, Body: session.Message{Message: llm.UserText("go"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}},
		{Seq: 2, Body: draft("I ")},
		{Seq: 3, Body: draft("build.")},
		{Seq: 4, Body: session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: "m", Content: llm.Content{llm.Text{Text: "I build."}, call}}}},
		{Seq: 5, Body: session.Message{Message: llm.ToolText(call, "no rule", false), Outcome: session.OutcomeOK, Failed: true, Brief: "exit code 2, 1 line"}},
		{Seq: 6, Body: draft("It fa")},
		{Seq: 7, Body: session.Discarded{}},
		{Seq: 8, Body: session.RunEnded{Reason: session.ReasonError}},
	}
	var out bytes.Buffer
	tr := talk{out: &out, shown: term.Harmless, columns: 80}
	if err := tr.write(t.Context(), index.Summary{}, view.State{}, path); err != nil {
		t.Fatal(err)
	}
	if want := "\nYou\ngo\n\nm\nI build.\n\n✗ shell make\n  no rule\n\nno run yet"; !bytes.Contains(out.Bytes(), []byte(want)) {
		t.Errorf("%q is missing in\n%s", want, out.String())
	}
}

// An entry that can be named elsewhere says what it is: an answer without words, what it calls.
func TestEntriesOfAnswersWithoutWords(t *testing.T) {
	answer := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{
		llm.Text{Text: "<intent>look</intent>"}, llm.ToolCall{Name: "glob"}, llm.ToolCall{Name: "li\x1bst"},
	}}}
	var out bytes.Buffer
	tr := talk{out: &out, shown: term.Harmless, entries: true}
	if err := tr.write(t.Context(), index.Summary{}, view.State{}, view.Entries{{Seq: 7, ID: "id", Body: answer}}); err != nil {
		t.Fatal(err)
	}
	if want := "\n7  id\ncalls glob, li␛st\n"; !bytes.Contains(out.Bytes(), []byte(want)) {
		t.Errorf("%q is missing in\n%q", want, out.String())
	}
}

// A fork has entries with numbers of two journals: a number names one of its own, and only those are shown with one.
func TestNumbersOfEntriesInAFork(t *testing.T) {
	ctx, store := t.Context(), openApp(t, t.TempDir()).Store
	write := func(id session.SessionID, texts ...string) []session.Event {
		t.Helper()
		w, err := store.Open(ctx, id, session.Lease{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		var events []session.Event
		for _, text := range texts {
			one, err := w.Append(ctx, session.Stamp{}, session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, one...)
		}
		return events
	}
	origin, err := store.Create(ctx, session.Created{Dir: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	old := write(origin, "one", "two", "three") // 2 3 4
	fork, err := store.Create(ctx, session.Created{Dir: "/work", From: session.Origin{Session: origin}, Fork: true})
	if err != nil {
		t.Fatal(err)
	}
	own := write(fork, "mine") // 2
	if e, err := entryOf(ctx, store, fork, "2"); err != nil || e.ID != own[0].ID {
		t.Errorf("number 2 is %s (%v), want %s", e.ID, err, own[0].ID)
	}
	if e, err := entryOf(ctx, store, fork, "4"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("number 4 is %s (%v), want none", e.ID, err)
	}
	if e, err := entryOf(ctx, store, fork, string(old[2].ID)); err != nil || e.ID != old[2].ID {
		t.Errorf("an inherited entry is %s (%v)", e.ID, err)
	}
	path := view.Stored(store, fork, "")
	from, err := inherited(ctx, path, index.Summary{ID: fork, Fork: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tr := talk{out: &out, shown: term.Harmless, entries: true, inherited: from}
	if err := tr.write(ctx, index.Summary{}, view.State{}, path); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ninherited  " + string(old[0].ID) + "\n", "\n2  " + string(own[0].ID) + "\n"} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
