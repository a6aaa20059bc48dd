package run

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/term/termtest"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// at is an event of a run, some time after its start.
func at(start time.Time, after time.Duration, b session.Body) session.Event {
	return session.Event{Turn: 1, Time: start.Add(after), Body: b}
}

func viewOn(tty *termtest.Terminal) *textView {
	return &textView{screen: &term.Screen{Out: tty, Err: tty, Width: tty.TerminalWidth, ShareLine: true}, safe: true}
}

// statusAfter lets the view see events and returns the line that the terminal shows last.
func statusAfter(t *testing.T, v *textView, tty *termtest.Terminal, events ...session.Event) string {
	t.Helper()
	for _, e := range events {
		if err := v.event(e); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(term.RedrawEvery + time.Millisecond)
	lines := termtest.Show(strings.Join(tty.Taken(), ""))
	return lines[len(lines)-1]
}

func TestTheStatusLineTellsWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 80}
		v := viewOn(tty)
		defer v.screen.Close()
		now := time.Now()
		call := func(id, tool, arguments string) session.CallStarted {
			return session.CallStarted{Call: id, Tool: tool, Arguments: json.RawMessage(arguments)}
		}
		for _, step := range []struct {
			event session.Body
			want  string
		}{
			{live.TurnStarted{}, "  waiting for the model"},
			{live.Delta{Type: live.DeltaThinking, Text: "hm"}, "  thinking"},
			{live.Delta{Type: live.DeltaArguments, Tool: "shell"}, "  writing a call of shell"},
			{call("1", "shell", `{"command":"go test ./..."}`), "  shell go test ./..."},
			{live.Progress{Call: "1", Text: "ok  \tllm\nok  \tagent\x1b[0m\n"}, "  shell go test ./... · ok agent [0m"},
			{call("2", "read", `{"path":"go.mod"}`), "  shell go test ./... and 1 more · ok agent [0m"},
			{session.Message{Message: llm.ToolText(llm.ToolCall{ID: "1", Name: "shell"}, "ok", false)}, "  read go.mod"},
			{session.Message{Message: llm.ToolText(llm.ToolCall{ID: "2", Name: "read"}, "x", false)}, "  waiting for the model"},
		} {
			if got := statusAfter(t, v, tty, at(now, time.Since(now), step.event)); !strings.HasPrefix(got, step.want) {
				t.Errorf("after %T the status is %q, want %q", step.event, got, step.want)
			}
		}
	})
}

func TestTheStatusLineCountsDownToTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 80}
		v := viewOn(tty)
		defer v.screen.Close()
		w := live.Waiting{
			Attempt: 2, Of: 4, Delay: 3 * time.Second,
			Cause: &llm.Error{Kind: llm.KindOverloaded, Status: 529},
		}
		if err := v.event(at(time.Now(), 0, w)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2)
		for _, left := range []string{"in 3s", "in 2s", "in 1s", "in 0s"} {
			lines := termtest.Show(strings.Join(tty.Taken(), ""))
			want := "  attempt 2 of 4 " + left + " (overloaded (HTTP 529))" // the cause may be cut
			if got := lines[len(lines)-1]; got != want {
				t.Errorf("shows %q, want %q", got, want)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestTheTextViewWithoutDeltas(t *testing.T) {
	var out, told bytes.Buffer
	v := &textView{screen: &term.Screen{Out: &out, Err: &told}}
	for _, m := range []llm.Message{
		{Role: llm.RoleAssistant, Content: llm.Content{llm.Text{Text: "<intent>x</intent>\n\nI look."}, llm.ToolCall{ID: "1", Name: "read", Arguments: `{"path":"a"}`}}},
		llm.ToolText(llm.ToolCall{ID: "1", Name: "read"}, "one\ntwo\n", false),
		llm.AssistantText("It is a list."),
	} {
		if err := v.event(session.Event{Body: session.Message{Message: m}}); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "It is a list.\n" || told.String() != "I look.\n✓ read a · 2 lines\n" {
		t.Errorf("got %q and %q", out.String(), told.String())
	}
}

func TestARuneThatIsCutByTheStreamArrivesWhole(t *testing.T) {
	var out bytes.Buffer
	v := &textView{screen: &term.Screen{Out: &out, Err: &out}, safe: true}
	for _, piece := range []string{"caf\xc3", "\xa9 \xf0\x9f", "\x91\x8d"} {
		if err := v.event(session.Event{Body: live.Delta{Type: live.DeltaText, Text: piece}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "café 👍" {
		t.Errorf("got %q", got)
	}
}

func TestEveryOutcomeIsShown(t *testing.T) {
	long := strings.Repeat("it does much; ", 20)
	call := llm.ToolCall{ID: "1", Name: "shell", Arguments: `{"command":"make"}`}
	for _, c := range []struct {
		outcome session.Outcome
		text    string
		took    time.Duration
		want    string
	}{
		{session.OutcomeOK, "a\nb\n", 1500 * time.Millisecond, "✓ shell make · 2 lines · 1.5s"},
		{session.OutcomeFailed, "\nexit code 2\nmore", 20 * time.Millisecond, "✗ shell make · exit code 2 · 20ms"},
		{session.OutcomeDenied, "This call was denied: " + long + "cp a . b: no, allow it with --mode auto.", 0, "✗ shell make · denied: " + long + "cp a . b: no, allow it with --mode auto"},
		{session.OutcomeNotStarted, "the process ended", 0, "✗ shell make · not started: the process ended"},
		{session.OutcomeUnknown, "who knows", 0, "✗ shell make · unknown: who knows"},
	} {
		var out bytes.Buffer
		v := &textView{screen: &term.Screen{Out: io.Discard, Err: &out}}
		at := time.Now()
		for _, e := range []session.Event{
			{Body: session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{call}}}},
			{Body: session.CallStarted{Call: "1", Tool: "shell"}, Time: at},
			{Body: session.Message{Message: llm.ToolText(call, c.text, c.outcome != session.OutcomeOK), Outcome: c.outcome}, Time: at.Add(c.took)},
		} {
			if err := v.event(e); err != nil {
				t.Fatal(err)
			}
		}
		if got := out.String(); got != c.want+"\n" {
			t.Errorf("%q: got %q, want %q", c.outcome, got, c.want)
		}
	}
}
