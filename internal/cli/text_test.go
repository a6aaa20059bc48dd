package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// onTerminal runs a command line in this process, on a terminal, and returns what the terminal then shows.
func onTerminal(t *testing.T, client llm.Client, vars map[string]string, args ...string) (code int, lines []string) {
	t.Helper()
	tty := &terminal{columns: 80}
	vars["TENON_DATA_DIR"] = t.TempDir()
	code = Main(t.Context(), args, Env{
		Stdout: tty, Stderr: tty, Client: client,
		Getenv: func(name string) string { return vars[name] },
	})
	return code, show(strings.Join(tty.taken(), ""))
}

// steady makes what differs from run to run the same.
func steady(lines []string) string {
	text := strings.Join(lines, "\n")
	text = regexp.MustCompile(`(session )[0-9a-z]{12}\b`).ReplaceAllString(text, "${1}ID")
	return regexp.MustCompile(`<?\d+(\.\d+)?m?s\b`).ReplaceAllString(text, "TIME")
}

func TestARunOnATerminal(t *testing.T) {
	client := llmtest.New(t, `
		text <intent>look into the file</intent>
		text I look
		text  into it.
		call read {"path":"text.go"}
		---
		call read {"path":"no such file"}
		---
		text It is
		text  the text view.
	`)
	code, lines := onTerminal(t, client, map[string]string{"NO_COLOR": "1"}, "run", "what is it")
	got := steady(lines)
	want := regexp.MustCompile(`^model test/script \(given by the caller\)
I look into it\.
✓ read text\.go · \d+ lines · TIME
✗ read no such file · .*

It is the text view\.
done: 3 turns, \d+ tokens in, \d+ out, TIME, session ID
$`)
	if code != exitDone || !want.MatchString(got) {
		t.Errorf("exit code %d, shows\n%s", code, got)
	}
}

func TestNothingReachesTheTerminalThatItActsOn(t *testing.T) {
	client := llmtest.New(t, `
		text "\x1b]0;owned\x07\x1b[2Jhello\u009b1m"
		call read {"path":"\u001b[31mred\nline.txt"}
		call "no\u001b[1mtool" {}
		---
		text "bye\x1b[0m"
	`)
	tty := &terminal{columns: 80}
	dir := t.TempDir()
	Main(t.Context(), []string{"run", "--debug", "h\x1b[1mi"}, Env{
		Stdout: tty, Stderr: tty, Client: client,
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir, "NO_COLOR": "1"}[name] },
	})
	all := strings.Join(tty.taken(), "")
	if i := strings.IndexFunc(all, func(r rune) bool { return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		t.Errorf("a control character in %q", all[max(i-40, 0):min(i+40, len(all))])
	}
	for _, want := range []string{"␛]0;owned␇", "bye␛[0m"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not shown as text", want)
		}
	}
}

func TestWhatGoesToAPipeIsNotChanged(t *testing.T) {
	var out, told bytes.Buffer
	dir := t.TempDir()
	code := Main(t.Context(), []string{"run", "colour"}, Env{
		Stdout: &out, Stderr: &told, Client: llmtest.New(t, `text "\x1b[1mbold\x1b[0m"`),
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir}[name] },
	})
	if code != exitDone || out.String() != "\x1b[1mbold\x1b[0m\n" {
		t.Errorf("exit code %d, %q, %q", code, out.String(), told.String())
	}
}

func TestADumbTerminalHasNoStatusLine(t *testing.T) {
	tty := &terminal{columns: 80}
	dir := t.TempDir()
	Main(t.Context(), []string{"run", "hello"}, Env{
		Stdout: tty, Stderr: tty, Client: llmtest.New(t, "text Hello."),
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir, "TERM": "dumb"}[name] },
	})
	if all := strings.Join(tty.taken(), ""); strings.ContainsAny(all, "\x1b\r") {
		t.Errorf("got %q", all)
	}
}

// at is an event of a run, some time after its start.
func at(start time.Time, after time.Duration, b session.Body) session.Event {
	return session.Event{Turn: 1, Time: start.Add(after), Body: b}
}

func viewOn(tty *terminal) *textView { return &textView{screen: liveScreen(tty), safe: true} }

// statusAfter lets the view see events and returns the line that the terminal shows last.
func statusAfter(t *testing.T, v *textView, tty *terminal, events ...session.Event) string {
	t.Helper()
	for _, e := range events {
		if err := v.event(e); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(redrawEvery + time.Millisecond)
	lines := show(strings.Join(tty.taken(), ""))
	return lines[len(lines)-1]
}

func TestTheStatusLineTellsWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 80}
		v := viewOn(tty)
		defer v.screen.close()
		now := time.Now()
		call := func(id, tool, arguments string) session.CallStarted {
			return session.CallStarted{Call: id, Tool: tool, Arguments: json.RawMessage(arguments)}
		}
		for _, step := range []struct {
			event session.Body
			want  string
		}{
			{session.TurnStarted{}, "  waiting for the model"},
			{session.Delta{Type: session.DeltaThinking, Text: "hm"}, "  thinking"},
			{session.Delta{Type: session.DeltaArguments, Tool: "shell"}, "  writing a call of shell"},
			{call("1", "shell", `{"command":"go test ./..."}`), "  shell go test ./..."},
			{session.Progress{Call: "1", Text: "ok  \tllm\nok  \tagent\x1b[0m\n"}, "  shell go test ./... · ok agent␛[0m"},
			{call("2", "read", `{"path":"go.mod"}`), "  shell go test ./... and 1 more · ok agent␛[0m"},
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
		tty := &terminal{columns: 80}
		v := viewOn(tty)
		defer v.screen.close()
		w := session.Waiting{
			Attempt: 2, Of: 4, Delay: session.Duration(3 * time.Second),
			Cause: &llm.Error{Kind: llm.KindOverloaded, Status: 529},
		}
		if err := v.event(at(time.Now(), 0, w)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2)
		for _, left := range []string{"in 3s", "in 2s", "in 1s", "in 0s"} {
			lines := show(strings.Join(tty.taken(), ""))
			want := "  attempt 2 of 4 " + left + " (overloaded (HTTP 529))" // the cause may be cut
			if got := lines[len(lines)-1]; got != want {
				t.Errorf("shows %q, want %q", got, want)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestAnAnswerThatBeginsAnewOnATerminal(t *testing.T) {
	client := llmtest.New(t, "text Half an\nreset network \"it broke\"\ntext The whole answer.")
	code, lines := onTerminal(t, client, map[string]string{}, "run", "hello")
	text := strings.Join(lines, "\n")
	for _, want := range []string{"Half an", "! the answer above broke off (test/script: network: it broke); it begins anew", "The whole answer."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestTheTextViewWithoutDeltas(t *testing.T) {
	var out, told bytes.Buffer
	v := &textView{screen: &screen{out: &out, err: &told}}
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

func TestAnAnswerThatGoesOnAfterTheLengthLimitIsOneText(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	code := Main(t.Context(), []string{"run", "tell a story"}, Env{
		Stdout: &out, Stderr: io.Discard,
		Client: llmtest.New(t, "text It was a dark and\nstop length\n---\ntext \" stormy night.\""),
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir}[name] },
	})
	if code != exitDone || out.String() != "It was a dark and stormy night.\n" {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}

func TestARuneThatIsCutByTheStreamArrivesWhole(t *testing.T) {
	var out bytes.Buffer
	v := &textView{screen: &screen{out: &out, err: &out}, safe: true}
	for _, piece := range []string{"caf\xc3", "\xa9 \xf0\x9f", "\x91\x8d"} {
		if err := v.event(session.Event{Body: session.Delta{Type: session.DeltaText, Text: piece}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "café 👍" {
		t.Errorf("got %q", got)
	}
}

func TestEveryOutcomeIsTold(t *testing.T) {
	long := strings.Repeat("it does much; ", 20)
	v := &textView{screen: &screen{}, calls: map[string]llm.ToolCall{"1": {ID: "1", Name: "shell", Arguments: `{"command":"make"}`}}}
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
		m := session.Message{
			Message: llm.ToolText(llm.ToolCall{ID: "1", Name: "shell"}, c.text, c.outcome != session.OutcomeOK),
			Outcome: c.outcome,
		}
		if got, well := v.resultLine(m, c.took); got != c.want || well != (c.outcome == session.OutcomeOK) {
			t.Errorf("%q: got %q, %t, want %q", c.outcome, got, well, c.want)
		}
	}
}

func TestManyCallsAlikeAreCounted(t *testing.T) {
	var told bytes.Buffer
	v := &textView{screen: &screen{out: io.Discard, err: &told}}
	look := func(failed bool) {
		m := session.Message{Message: llm.ToolText(llm.ToolCall{Name: "read"}, "x", failed)}
		if err := v.event(session.Event{Body: m}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for range maxAlike + 3 {
			look(false)
		}
		look(true)
		if err := v.event(session.Event{Body: session.TurnEnded{}}); err != nil {
			t.Fatal(err)
		}
	}
	turn := strings.Repeat("✓ read · 1 line\n", maxAlike) + "✗ read · x\n✓ read · 3 more\n"
	if told.String() != turn+turn {
		t.Errorf("got\n%s", told.String())
	}
}

func TestWhatCameOfACallIsToldByItsDetails(t *testing.T) {
	for _, c := range []struct{ details, want string }{
		{``, "2 lines"}, // of the text
		{`{"other":true}`, "2 lines"},
		{`"text"`, "2 lines"},
		{`{"lines":"many"}`, "2 lines"},
		{`{"lines":9,"first":1,"last":9}`, "9 lines"},
		{`{"lines":9000,"first":1,"last":2000}`, "lines 1 to 2000 of 9000"},
		{`{"entries":1}`, "1 entry"},
		{`{"matches":3,"files":2}`, "3 matches"},
		{`{"total":12,"paths":[]}`, "12 files"},
		{`{"added":3,"removed":1}`, "+3 -1"},
		{`{"added":3,"removed":0,"created":true}`, "+3 -0, new"},
		{`{"command":"true","exit_code":0}`, "2 lines"},
		{`{"command":"false","exit_code":1}`, "exit code 1, 2 lines"},
		{`{"command":"x","exit_code":-1,"signal":"killed"}`, "ended by killed, 2 lines"},
		{`{"command":"x","exit_code":-1,"signal":"killed","timed_out":true}`, "timed out, 2 lines"},
	} {
		m := session.Message{Message: llm.ToolText(llm.ToolCall{}, "a\nb\n", false), Details: json.RawMessage(c.details)}
		if got := summary(m); got != c.want {
			t.Errorf("%s: got %q, want %q", c.details, got, c.want)
		}
	}
}

func TestTheMainArgumentOfACall(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{`{"path":"a.go","content":"package a"}`, "a.go"},
		{`{"pattern":"TODO","path":"src"}`, "TODO in src"},
		{`{"pattern":"*.go","path":"."}`, "*.go"},
		{`{"command":"go vet\n  ./..."}`, "go vet ./..."},
		{`{"zebra":"z","apple":"a"}`, "a"},
		{`{"n":1}`, ""},
		{`{"path":`, ""},
		{`null`, ""},
		{`{"patch":"*** Begin Patch\n*** Update File: a b.txt\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch"}`, "a b.txt c"},
		{`{"paths":["a","b/c"],"recursive":true}`, "a b/c"},
		{`{"paths":"a"}`, "a"},
		{``, ""},
	} {
		if got := argumentOf(c.arguments); got != c.want {
			t.Errorf("argumentOf(%s) = %q, want %q", c.arguments, got, c.want)
		}
	}
}

func FuzzTheMainArgumentIsOneHarmlessLine(f *testing.F) {
	f.Add(`{"path":"a\u001b[1m\nb"}`)
	f.Add(`{"command":["x"],"b":"\u0007"}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, arguments string) {
		got := argumentOf(arguments)
		if strings.ContainsAny(got, "\n\r\t\x1b\x07") || harmless(got) != got {
			t.Errorf("%q becomes %q", arguments, got)
		}
	})
}
