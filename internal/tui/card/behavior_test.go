package card_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/transcript"
)

var (
	_ list.Item     = (*card.Card)(nil)
	_ list.Revealer = (*card.Card)(nil)
	_ list.Joiner   = (*card.Card)(nil)
	_ list.Marked   = (*card.Card)(nil)
)

func text(c *card.Card, width int) string { return ansi.Strip(strings.Join(c.Lines(width), "\n")) }

func has(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing in:\n%s", part, got)
		}
	}
}

// edit is an answer with a call that changed a number of lines.
func edit(lines int) *transcript.Item {
	d := session.FileDiff{Path: "a.go", Added: lines, Text: fmt.Sprintf("--- a/a.go\n+++ b/a.go\n@@ -0,0 +1,%d @@\n%s", lines, strings.Repeat("+changed\n", lines))}
	c := llm.ToolCall{ID: "1", Name: "edit", Arguments: `{"path":"a.go"}`}
	return fold(answer("", c), session.CallStarted{Call: "1", Tool: "edit", Title: "a.go"},
		session.Message{Message: llm.ToolText(c, "the text of the result", false), Diffs: []session.FileDiff{d}})[0]
}

func TestSmallChangesAreVisibleAtOnce(t *testing.T) {
	o := options("plain")
	if got := text(card.New(edit(12), o), 80); !strings.Contains(got, "12 + changed") {
		t.Error(got)
	}
	c := card.New(edit(13), o)
	if got := text(c, 80); strings.Contains(got, "changed") || !strings.Contains(got, "+13") {
		t.Error(got)
	}
	version := c.Version()
	c.Toggle()
	if c.Version() == version || c.Folded() {
		t.Error("the card did not unfold")
	}
	has(t, text(c, 80), "13 + changed", `"path": "a.go"`)
	c.Toggle()
	o.Folded = false
	if !c.Folded() || card.New(edit(1), o).Folded() {
		t.Error("a card that a person folded follows the others")
	}
}

func TestARunningCall(t *testing.T) {
	o := options("plain")
	now := start.Add(10 * time.Second)
	o.Now = func() time.Time { return now }
	c := llm.ToolCall{ID: "1", Name: "bash", Arguments: `{"command":"make"}`}
	it := fold(answer("", c), session.CallStarted{Call: "1", Tool: "bash", Title: "make"}, live.Progress{Call: "1", Text: "1\n2\n3\n4\x1b[31m\n"})[0]
	k := card.New(it, o)
	if got := text(k, 80); got != "\n  ● bash make · 9s\n    2\n    3\n    4␛[31m" {
		t.Errorf("%q", got)
	}
	version := k.Version()
	now = now.Add(900 * time.Millisecond)
	if k.Version() != version {
		t.Error("the same second has another version")
	}
	now = now.Add(100 * time.Millisecond)
	if k.Version() == version {
		t.Error("the next second has the same version")
	}
	k.Reveal()
	has(t, text(k, 80), "10s", "    1\n    2")
}

// A failed command shows the last line of its output, another failed call its error.
func TestTheReasonOfAFailure(t *testing.T) {
	c := llm.ToolCall{ID: "1", Name: "shell", Arguments: `{"command":"make"}`}
	for _, test := range []struct {
		m    session.Message
		want string
	}{
		{session.Message{Message: llm.ToolText(c, "a\n\tb: not found\n\n[exit code 2]\n", false), Failed: true, Brief: "exit code 2, 2 lines"}, "\n  ✗ shell make · exit code 2, 2 lines\n    b: not found"},
		{session.Message{Message: llm.ToolText(c, "[exit code 2]", false), Failed: true, Brief: "exit code 2"}, "\n  ✗ shell make\n    exit code 2"},
		{session.Message{Message: llm.ToolText(c, "cannot run\nmore", true), Outcome: session.OutcomeFailed}, "\n  ✗ shell make\n    cannot run"},
	} {
		if got := text(card.New(fold(answer("", c), test.m)[0], options("plain")), 80); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// While an answer streams, the card shows what it shows of the whole answer in the end.
func TestAStreamShowsItsAnswer(t *testing.T) {
	o := options("dark")
	whole := "<intent>fix</intent>" + strings.Repeat(prose, 3)
	want := strings.Join(card.New(fold(answer(whole))[0], o).Lines(70), "\n")
	tr, it := streamed("")
	c := card.New(it, o)
	for rest := whole; rest != ""; {
		n := min(7, len(rest))
		tr.Add(session.Event{Body: live.Delta{Type: live.DeltaText, Text: rest[:n]}, Time: start})
		rest = rest[n:]
		c.Changed()
		c.Lines(70)
	}
	if got := strings.Join(c.Lines(70), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	tr.Add(session.Event{Body: answer(whole), Time: start, Seq: 1})
	if got := strings.Join(c.Lines(70), "\n"); got != want {
		t.Errorf("in the end: got\n%s\nwant\n%s", got, want)
	}
}

func TestThinking(t *testing.T) {
	o := options("plain")
	tr := &transcript.Transcript{}
	it, _ := tr.Add(session.Event{Body: live.Delta{Type: live.DeltaThinking, Text: "Well."}, Time: start})
	c := card.New(it, o)
	o.Now = func() time.Time { return start.Add(5 * time.Second) }
	if got := text(c, 80); got != "\n  ∴ Thinking for 5s" {
		t.Errorf("%q", got)
	}
	tr.Add(session.Event{Body: live.Delta{Type: live.DeltaText, Text: "Yes."}, Time: start.Add(12 * time.Second)})
	if got := text(c, 80); got != "\n  ∴ Thought for 12s\n\n  Yes." {
		t.Errorf("%q", got)
	}
	c.SetFolded(false)
	has(t, text(c, 80), "    Well.")
	hidden := answer("x")
	hidden.Content = append(llm.Content{llm.Thinking{Opaque: []byte(`"secret"`)}}, hidden.Content...)
	has(t, text(card.New(fold(hidden)[0], o), 80), "∴ Thought, not shown by the provider")
}

func TestAnAnswerThatIsNotComplete(t *testing.T) {
	m := answer("half")
	m.Stop = llm.StopLength
	has(t, text(card.New(fold(m)[0], options("plain")), 80), "half", "Cut at the output limit")
	var tr transcript.Transcript
	it, _ := tr.Add(session.Event{Body: live.MessageStarted{Model: "m"}, Time: start})
	if lines := card.New(it, options("plain")).Lines(80); lines != nil {
		t.Errorf("%q", lines)
	}
}

func TestLongTextsAreCutInTheMiddle(t *testing.T) {
	var long strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	c := card.New(fold(session.Message{Message: llm.UserText(long.String()), Speaker: person})[0], options("plain"))
	got := text(c, 80)
	has(t, got, "line 0\n", "line 12\n  … 980 more lines\n  line 993\n", "line 999")
	c.SetFolded(false)
	if n := len(c.Lines(80)); n != 1001 {
		t.Error(n)
	}
	wide := card.New(fold(answer(strings.Repeat("x", 1<<20)))[0], options("plain"))
	has(t, text(wide, 80), "1008 kB")
}

func TestStopsAndTexts(t *testing.T) {
	items := conversation()
	o := options("plain")
	stops := 0
	for _, it := range items {
		if card.New(it, o).Stop() {
			stops++
		}
	}
	if stops != 1 {
		t.Error(stops)
	}
	answer := card.New(items[1], o)
	has(t, answer.Text(), "First I read the file.", "two** problems", "edit parse.go", "ok  \tone")
	if blocks := answer.Blocks(); len(blocks) != 1 || !strings.HasPrefix(blocks[0], "func parse") {
		t.Errorf("%q", blocks)
	}
	steering := session.Message{Message: llm.UserText("also this"), Speaker: person, Source: session.FromSteering}
	c := card.New(fold(steering)[0], o)
	if got := text(c, 80); got != "\n› You, meanwhile: also this" || !c.Stop() {
		t.Errorf("%q", got)
	}
}

// Calls of several answers are lines of one block.
func TestCallsOfSeveralAnswers(t *testing.T) {
	call := func(id string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "read", Arguments: `{"path":"` + id + `"}`}
	}
	done := func(id string) session.Body { return session.Message{Message: llm.ToolText(call(id), "x", false)} }
	o := options("plain")
	l := list.New(o.Theme)
	l.SetSize(40, 20)
	for _, it := range fold(answer("I look.", call("a")), done("a"), answer("", call("b")), done("b"), answer("", call("c")), done("c"), answer("Done.")) {
		l.Append(card.New(it, o))
	}
	want := "\n   I look.\n\n   ✓ read a · 1 line\n   ✓ read b · 1 line\n   ✓ read c · 1 line\n\n   Done."
	if got := ansi.Strip(strings.Join(l.Lines(), "\n")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Other colors draw the streamed part again.
func TestAnotherTheme(t *testing.T) {
	o := options("dark")
	_, it := streamed("`code`\n\nmore")
	c := card.New(it, o)
	before := strings.Join(c.Lines(80), "\n")
	o.Theme = theme.New("light", false)
	if strings.Join(c.Lines(80), "\n") == before {
		t.Error("the colors are the same")
	}
}

// A person's own command shows its output at once.
func TestACommandOfThePerson(t *testing.T) {
	c := llm.ToolCall{ID: "1", Name: "shell", Arguments: `{"command":"ls"}`}
	ran := session.CallStarted{Call: "1", Tool: "shell", Title: "ls", Arguments: []byte(c.Arguments)}
	items := fold(ran, view.Ran(c, session.Message{Message: llm.ToolText(c, "a.go\nb.go\n[exit code 0]", false), Brief: "2 lines"}))
	if len(items) != 1 {
		t.Fatalf("%d items", len(items))
	}
	got := text(card.New(items[0], options("plain")), 80)
	has(t, got, "✓ shell ls · 2 lines", "\n    a.go\n    b.go")
	if strings.Contains(got, "exit code 0") {
		t.Error(got)
	}
}

// Calls in a row have no empty lines between them, and an approval for one call is not worth a line.
func TestCallsInARow(t *testing.T) {
	call := func(id string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "shell", Arguments: `{"command":"ls"}`}
	}
	asks := session.Asking{ID: "q", Calls: []ask.Call{{Call: "2", Tool: "shell", Reason: "it runs code", Grants: []ask.Grant{{Rules: []string{"shell(ls)"}}}}}}
	reply := func(a ask.Answer) session.Answered {
		return session.Answered{ID: "q", Answers: []ask.Answer{a}, By: session.Speaker{Kind: session.SpeakerPerson, Name: "tenon"}}
	}
	done := func(id string) session.Message { return session.Message{Message: llm.ToolText(call(id), "x", false)} }
	o := options("plain")
	o.Self = "tenon"
	for grant, want := range []string{"", "\n  ✓ allowed shell(ls) in this session"} {
		answered := reply(ask.Answer{Allow: true, Grant: grant})
		var cards []*card.Card
		var lines []string
		for _, it := range fold(answer("", call("1")), done("1"), answer("", call("2")), asks, answered, session.Asked{ID: "q"}, done("2")) {
			c := card.New(it, o)
			drawn := c.Lines(80)
			if n := len(cards); n > 0 && c.Joins(cards[n-1]) {
				drawn = drawn[1:]
			}
			cards, lines = append(cards, c), append(lines, drawn...)
		}
		if got := ansi.Strip(strings.Join(lines, "\n")); !strings.HasPrefix(got, "\n  ✓ shell ls") || strings.Count(got, "\n\n") != 0 || !strings.HasSuffix(got, "1 line"+want) {
			t.Errorf("%q", got)
		}
	}
}

// The search looks at an answer as it is on the screen, too.
func TestTheSearchLooksPastMarks(t *testing.T) {
	for source, want := range map[string]string{
		"a **very** *important*\nmatter":                  "a very important matter",
		"call `f(x)` in snake_case, _now_":                "call f(x) in snake_case, now",
		"see [the docs](https://example.com/a_b) of a[0]": "see the docs of a[0]",
		"~~old~~ ~/new": "old ~/new",
		"**日本**語":       "日本語",
		"no marks":      "",
	} {
		it := &transcript.Item{Kind: transcript.KindAnswer, Content: llm.Content{llm.Text{Text: source}}}
		c := card.New(it, &card.Options{Theme: theme.New("light", false), Now: time.Now})
		if got := c.Unmarked(); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
		if drawn := strings.Join(strings.Fields(text(c, 200)), " "); !strings.Contains(source, "](") && !strings.Contains(drawn, want) {
			t.Errorf("%q is drawn as %q", source, drawn)
		}
	}
	prompt := card.New(&transcript.Item{Kind: transcript.KindPrompt, Content: llm.Content{llm.Text{Text: "*x*"}}}, &card.Options{})
	if got := prompt.Unmarked(); got != "" {
		t.Errorf("a prompt has no marks, got %q", got)
	}
}

// A prompt shows a line for each attached file. Unfolded, it shows the texts.
func TestAPromptFoldsItsFiles(t *testing.T) {
	items := fold(session.Message{Speaker: person, Message: llm.Message{Role: llm.RoleUser, Content: llm.Content{
		llm.Text{Text: "explain @a.go"}, llm.Text{Text: "\n\n<file name=\"a.go\">\npackage a\n\nvar x int\n</file>"},
	}}})
	c := card.New(items[0], options("plain"))
	if got := strings.TrimSpace(ansi.Strip(strings.Join(c.Lines(80), "\n"))); got != "› explain @a.go\n  [file: a.go, 3 lines]" {
		t.Errorf("folded: %q", got)
	}
	c.SetFolded(false)
	if got := strings.Join(c.Lines(80), "\n"); !strings.Contains(got, "var x int") {
		t.Errorf("unfolded: %q", got)
	}
}

// The diff of a new file takes the whole width: there is no old text for a left half.
func TestANewFileTakesTheWholeWidth(t *testing.T) {
	items := fold(
		answer("", llm.ToolCall{ID: "c", Name: "write", Arguments: `{"path":"a.go"}`}),
		session.Message{Diffs: []session.FileDiff{{Path: "a.go", Created: true, Added: 1, Text: "--- /dev/null\n+++ b/a.go\n@@ -0,0 +1 @@\n+package a\n"}}, Message: llm.Message{
			Role: llm.RoleTool, CallID: "c", Content: llm.Content{llm.Text{Text: "done"}},
		}, Outcome: session.OutcomeOK},
	)
	lines := ansi.Strip(strings.Join(card.New(items[0], options("plain")).Lines(200), "\n"))
	if !strings.Contains(lines, "+ package a") || strings.Contains(lines, "│") {
		t.Errorf("%s", lines)
	}
}
