package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fold adds bodies as entries, one a second, and returns every item that they began.
func fold(t *Transcript, bodies ...session.Body) (items []*Item) {
	for i, b := range bodies {
		e := session.Event{Body: b, Time: start.Add(time.Duration(i) * time.Second)}
		if !(session.Event{Body: b}).Transient() {
			e.Seq, e.ID = int64(i+1), session.ID(fmt.Sprint("e", i+1))
		}
		if it, begun := t.Add(e); begun {
			items = append(items, it)
		}
	}
	return items
}

func answer(text string, calls ...llm.ToolCall) session.Message {
	m := llm.Message{Role: llm.RoleAssistant, Model: "test/m", Content: llm.Content{llm.Text{Text: text}}}
	for _, c := range calls {
		m.Content = append(m.Content, c)
	}
	return session.Message{Message: m}
}

var look = llm.ToolCall{ID: "c", Name: "look", Arguments: `{"n":1,"what":"a\nb"}`}

// result is the result of look.
func result(outcome session.Outcome, text string, isError bool) session.Message {
	return session.Message{Message: llm.ToolText(look, text, isError), Outcome: outcome}
}

// A live stream and the entries of its journal alone show the same in the end, and a listener that comes late sees every word once.
func TestStreamAndJournalShowTheSame(t *testing.T) {
	part := func(text string) session.Partial { return session.Partial{Content: llm.Content{llm.Text{Text: text}}} }
	delta := func(text string) live.Delta { return live.Delta{Type: live.DeltaText, Text: text} }
	live := []session.Body{
		session.Message{Message: llm.UserText("go"), Speaker: session.Speaker{Kind: session.SpeakerPerson}},
		live.MessageStarted{Model: "test/m"},
		delta("I "), part("I "), delta("look"), delta(" now"), part("look now"), delta("."),
		live.CallReady{Call: look},
		answer("I look now.", look),
		session.CallStarted{Call: "c", Tool: "look", Title: "a"},
		live.Progress{Call: "c", Tool: "look", Text: "half\n"},
		result("", "x\ny", false),
		session.RunEnded{Reason: session.ReasonDone, Turns: 1},
	}
	for skip := range live {
		for _, only := range []func(session.Body) bool{
			func(session.Body) bool { return true },
			func(b session.Body) bool { return !(session.Event{Body: b}).Transient() },
		} {
			var tr Transcript
			var bodies []session.Body
			for i, b := range live {
				if only(b) && (i >= skip || !(session.Event{Body: b}).Transient()) { // a late reader gets the earlier entries
					bodies = append(bodies, b)
				}
			}
			items := fold(&tr, bodies...)
			if len(items) != 3 {
				t.Fatalf("%d items", len(items))
			}
			it := items[1]
			c := it.Calls[0]
			if it.Kind != KindAnswer || it.Text() != "I look now." || it.Open || it.Partial || len(it.Calls) != 1 ||
				c.State != Succeeded || c.Title != "a" || c.Brief != "2 lines" || c.Took() <= 0 {
				t.Errorf("without the first %d: %q, %+v", skip, it.Text(), c)
			}
		}
	}
}

// While an answer streams, its text is what came so far, without words twice and without those of a stream that broke.
func TestTextWhileItStreams(t *testing.T) {
	var tr Transcript
	fold(&tr, live.MessageStarted{Model: "test/m"}, live.Delta{Type: live.DeltaText, Text: "no"}, live.Reset{},
		live.Delta{Type: live.DeltaThinking, Text: "hm"}, live.Delta{Type: live.DeltaText, Text: "<intent>x</intent> Hel"},
		session.Partial{Content: llm.Content{llm.Thinking{Text: "hm"}, llm.Text{Text: "<intent>x</intent> Hel"}}},
		live.Delta{Type: live.DeltaText, Text: "lo"})
	it := tr.Answer()
	thinking, _ := it.Thinking()
	if it.Text() != "Hello" || it.Intent() != "x" || thinking != "hm" || !it.Open || !it.Partial {
		t.Errorf("%q, %q, %q", it.Text(), it.Intent(), thinking)
	}
	if it, begun := tr.Add(session.Event{Seq: 9, Body: session.Discarded{}}); begun || it.Text() != "" {
		t.Errorf("after it was discarded: %q", it.Text())
	}
}

// An answer appears once, at its place: also after an attempt that broke off, which the answer of a later run replaces or completes.
func TestAnswersThatBrokeOff(t *testing.T) {
	part := session.Partial{Content: llm.Content{llm.Text{Text: "I beg"}}}
	prompt := session.Message{Message: llm.UserText("go"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
	started, ended := session.RunStarted{Run: "r"}, session.RunEnded{Reason: session.ReasonInterrupted}
	cut := answer("I beg")
	cut.Stop = llm.StopAborted
	for name, test := range map[string]struct {
		bodies []session.Body
		want   string
	}{
		"in time":             {[]session.Body{prompt, part, part, answer("Done."), ended}, "go|Done."},
		"discarded":           {[]session.Body{prompt, part, session.Discarded{}, answer("Done."), ended}, "go|Done."},
		"broken off":          {[]session.Body{prompt, part, ended}, "go|I beg (broken off)"},
		"resumed":             {[]session.Body{prompt, part, ended, started, answer("Done."), ended}, "go|Done."},
		"killed and resumed":  {[]session.Body{prompt, part, started, part, answer("Done."), ended}, "go|Done."},
		"settled":             {[]session.Body{prompt, part, ended, started, cut, prompt, answer("Done."), ended}, "go|I beg (broken off)|go|Done."},
		"not settled":         {[]session.Body{prompt, part, ended, prompt, answer("Done."), ended}, "go|I beg (broken off)|go|Done."},
		"failed, then asked":  {[]session.Body{prompt, part, session.Discarded{}, ended, started, prompt, answer("Done."), ended}, "go|go|Done."},
		"failed, then rewind": {[]session.Body{prompt, part, ended, session.Head{To: "e1"}, answer("Done."), ended}, "go|I beg (broken off)|Done."},
	} {
		t.Run(name, func(t *testing.T) {
			var tr Transcript
			var got []string
			for _, it := range fold(&tr, test.bodies...) {
				if it.Kind == KindNote || it.Void() {
					continue
				}
				text := it.Text()
				if stop, _ := it.Facts(); stop != "" {
					text += " (" + stop + ")"
				}
				got = append(got, text)
			}
			if got := strings.Join(got, "|"); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// The state and the one line of a call come from typed facts; without them from the outcome and the text.
func TestOutcomesOfCalls(t *testing.T) {
	for _, test := range []struct {
		result session.Message
		state  State
		brief  string
	}{
		{result("", "a\nb\n", false), Succeeded, "2 lines"},
		{session.Message{Message: llm.ToolText(look, "a", false), Brief: "exit code 1, 1 line", Failed: true}, Failed, "exit code 1, 1 line"},
		{result(session.OutcomeFailed, "no such file\nmore", true), Failed, "no such file"},
		{result(session.OutcomeInvalid, "look: bad. Fix it.", true), Failed, "invalid: look: bad"},
		{result(session.OutcomeDenied, "This call was denied: not here.", true), Denied, "denied: not here"},
		{result(session.OutcomeSkipped, "This call was not run: a message came.", true), Skipped, "skipped: a message came"},
		{result(session.OutcomeCancelled, "stopped", true), Cancelled, "cancelled: stopped"},
		{result(session.OutcomeUnknown, "lost", true), Unknown, "unknown: lost"},
		{result(session.OutcomeNotStarted, "lost", true), Skipped, "not started: lost"},
	} {
		var tr Transcript
		c := fold(&tr, answer("", look), test.result)[0].Calls[0]
		if c.State != test.state || c.Brief != test.brief || c.Title != "a b" {
			t.Errorf("%s: %s, %q, title %q", test.result.Outcome, c.State, c.Brief, c.Title)
		}
	}
}

// A question changes its calls while it is open.
func TestQuestions(t *testing.T) {
	var tr Transcript
	items := fold(&tr, answer("", look), session.Asking{ID: "q", Calls: []ask.Call{{Call: "c", Tool: "mcp__a__b"}}})
	c := items[0].Calls[0]
	if len(items) != 2 || !items[1].Open || c.State != Waiting || c.Name != "mcp__a__b" || len(tr.Requests.Questions) != 1 {
		t.Errorf("%+v", c)
	}
	fold(&tr, session.Asked{ID: "q"})
	if items[1].Open || c.State != Proposed || len(tr.Requests.Questions) != 0 {
		t.Errorf("%+v", c)
	}
}

// Names of calls may come again in a later answer, and a result without its call is shown by itself.
func TestNamesComeAgain(t *testing.T) {
	var tr Transcript
	items := fold(&tr, answer("1", look), result("", "one", false), answer("2", look), result("", "two", false), result("", "three", false))
	if len(items) != 3 || items[0].Calls[0].Result.Text() != "one" || items[1].Calls[0].Result.Text() != "two" || items[2].Note.Plain != "three" {
		t.Errorf("%+v", items)
	}
}

// An event costs the same however long the answer is: the text is not copied with each delta.
func TestDeltasCostTheSame(t *testing.T) {
	var tr Transcript
	tr.Add(session.Event{Body: live.MessageStarted{}})
	tr.Add(session.Event{Body: live.Delta{Type: live.DeltaText, Text: strings.Repeat("x", 1<<20)}})
	var e session.Event
	e.Body = live.Delta{Type: live.DeltaText, Text: "y"}
	if n := testing.AllocsPerRun(1000, func() { tr.Add(e) }); n >= 1 {
		t.Errorf("%.1f allocations for each delta", n)
	}
}

func FuzzTitle(f *testing.F) {
	f.Add(`{"path":"a\u001b[1m\nb"}`)
	f.Add(`{"command":["x"],"b":"\u0007"}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, arguments string) {
		if got := titleOf(arguments); strings.ContainsAny(got, "\n\r\t\x1b\x07") || len(got) > 200 {
			t.Errorf("%q becomes %q", arguments, got)
		}
	})
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(1, "line"), "1 line"},
		{Count(0, "line"), "0 lines"},
		{Count(2, "entry"), "2 entries"},
		{Count(2, "match"), "2 matches"},
		{Tokens(9999), "9999"},
		{Tokens(12_345), "12k"},
		{Tokens(1_234_567), "1.2M"},
		{Dollars(0.0012), "$0.0012"},
		{Dollars(1.5), "$1.50"},
		{Duration(0), "<1ms"},
		{Duration(12_345_678), "12ms"},
		{Duration(1_500_000_000), "1.5s"},
		{Duration(3_000_000_000), "3s"},
		{Duration(59_900_000_000), "59s"},
		{Duration(61_000_000_000), "1m1s"},
		{Bytes(9000), "9000 B"},
		{Bytes(12 << 10), "12 kB"},
		{Age(time.Second), "now"},
		{Age(26 * time.Hour), "1 d"},
		{Usage(llm.Usage{Input: 400, CacheRead: 800, Output: 90, Cost: 0.02}), "1200 tokens in (800 cached), 90 out, $0.02"},
		{Stop(llm.StopLength), "cut at the output limit"},
		{Epoch("compaction"), "a summary replaces the older turns"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	for want, b := range map[string]session.Body{
		"summarizing the conversation: the context window is nearly full": live.Compacting{Reason: "full"},
		"summarizing the conversation: a person asked for it":             live.Compacting{Reason: "asked"},
		"the summary failed: down":                                        live.Compacting{Reason: "full", Done: true, Error: "down"},
		"":                                                                live.Compacting{Reason: "full", Done: true},
		"a summary replaces the older turns, by a/b: about 21k tokens instead of 92k": session.Summarized{By: "a/b", Before: 92_000, After: 21_400},
		"2 old results trimmed":                           session.Trimmed{Messages: make([]session.Trim, 2)},
		"the model rewinds (failure): the port is taken":  session.Revert{Category: "failure", Lesson: "the port\nis taken"},
		"attempt 2 of 3 follows in 2s (overloaded: busy)": live.Waiting{Attempt: 2, Of: 3, Delay: 2 * time.Second, Cause: &llm.Error{Kind: llm.KindOverloaded, Message: "busy"}},
		"continuing with a/b, key k":                      live.Routed{Model: "a/b", Key: "k"},
		"done · 2 turns · 1200 tokens in, 90 out · 3s":    session.RunEnded{Reason: session.ReasonDone, Turns: 2, Usage: llm.Usage{Input: 1200, Output: 90}, Elapsed: session.Duration(3 * time.Second)},
	} {
		if n, ok := Describe(b); n.Title != want || ok != (want != "") {
			t.Errorf("got %q, want %q", n.Title, want)
		}
	}
}

// A call has Tenon's name for the tool from the first moment, and also if it never starts.
func TestCallsHaveTheNameOfTheTool(t *testing.T) {
	call := llm.ToolCall{ID: "c", Name: "Bash", Arguments: `{"command":"ls"}`}
	var tr Transcript
	it := fold(&tr, live.MessageStarted{Model: "test/m"}, live.CallReady{Call: call, As: "shell"})[0]
	for _, b := range []session.Body{answer("", call), session.CallStarted{Call: "c", Tool: "shell"}, session.Message{Message: llm.ToolText(call, "x", false)}} {
		if c := it.Calls[0]; c.Name != "shell" || c.Title != "ls" {
			t.Errorf("before %T: %s %s", b, c.Name, c.Title)
		}
		tr.Add(session.Event{Body: b})
	}
	skipped := call
	skipped.Name = "shell"
	tr = Transcript{}
	if it := fold(&tr, answer("", call), session.Message{Message: llm.ToolText(skipped, "x", true), Outcome: session.OutcomeSkipped})[0]; it.Calls[0].Name != "shell" {
		t.Errorf("it has the name %s", it.Calls[0].Name)
	}
}

// An author has one name for people, in every frontend.
func TestAuthors(t *testing.T) {
	prompt := func(from session.Speaker, source session.Source) session.Message {
		return session.Message{Message: llm.UserText("x"), Speaker: from, Source: source}
	}
	for want, m := range map[string]session.Message{
		"You":            prompt(session.Speaker{Kind: session.SpeakerPerson}, ""),
		"You, meanwhile": prompt(session.Speaker{Kind: session.SpeakerPerson}, session.FromSteering),
		"Lesson":         prompt(session.Speaker{}, session.FromRevert),
		"Job job1":       prompt(session.Speaker{Kind: session.SpeakerJob, Name: "job1"}, ""),
		"test/m":         answer("x"),
	} {
		var tr Transcript
		if got := fold(&tr, m)[0].Who(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The title of a call that has none is its most telling argument; its arguments are for reading.
func TestArgumentsForPeople(t *testing.T) {
	for arguments, want := range map[string][2]string{
		`{"command":"ls\n-l"}`:                  {"ls -l", "ls\n-l"},
		`{"new_text":"x","path":"a.go"}`:        {"a.go", "{\n  \"new_text\": \"x\",\n  \"path\": \"a.go\"\n}"},
		`{"n":1,"list":["a","b"],"more":"yes"}`: {"a b", "{\n  \"n\": 1,\n  \"list\": [\n    \"a\",\n    \"b\"\n  ],\n  \"more\": \"yes\"\n}"},
		`{"a":"cut of`:                          {"", `{"a":"cut of`},
	} {
		c := newCall(llm.ToolCall{Arguments: arguments})
		if c.Title != want[0] || c.Pretty() != want[1] {
			t.Errorf("%s: %q, %q", arguments, c.Title, c.Pretty())
		}
	}
	if got := Headline("## **Fix** `it`\n\nnow", 60); got != "Fix it" {
		t.Errorf("%q", got)
	}
	if got := Headline("a long line", 6); got != "a lon…" {
		t.Errorf("%q", got)
	}
}

// A call of a person is an item of its own, also if its start is not in the events.
func TestACallOfAPerson(t *testing.T) {
	call := llm.ToolCall{ID: "p", Name: "shell", Arguments: `{"command":"make"}`}
	started := session.CallStarted{Call: "p", Tool: "shell", Title: "make", Arguments: []byte(call.Arguments)}
	ran := view.Ran(call, session.Message{Message: llm.ToolText(call, "built\n", false)})
	for name, events := range map[string][]session.Body{
		"from its start": {started, live.Progress{Call: "p", Tool: "shell", Text: "bui"}, session.FilesChanged{Call: "p", Files: []session.FileChange{{Path: "a"}}}, ran},
		"from its end":   {ran},
	} {
		var tr Transcript
		items := fold(&tr, append([]session.Body{answer("I look now.", look), result("", "x", false)}, events...)...)
		if len(items) != 2 {
			t.Fatalf("%s: %d items", name, len(items))
		}
		it := items[1]
		if it.Kind != KindCommand || it.Open || it.Who() != "You" || len(it.Calls) != 1 || len(tr.Running()) != 0 {
			t.Errorf("%s: %+v", name, it)
		}
		if c := it.Calls[0]; c.State != Succeeded || c.Result.Text() != "built\n" || c.Brief != "1 line" || len(c.Files) != min(len(events)-1, 1) {
			t.Errorf("%s: the call is %+v", name, c)
		}
		if tr.Answer() != items[0] {
			t.Errorf("%s: the newest answer is %+v", name, tr.Answer())
		}
	}
}

// The stream and the journal alone agree about how long a model thought, up to the time between two saved parts.
func TestHowLongAModelThought(t *testing.T) {
	var tr Transcript
	think := func(text string) live.Delta { return live.Delta{Type: live.DeltaThinking, Text: text} }
	items := fold(&tr, live.MessageStarted{Model: "m"}, think("a"), think("b"))
	if it := items[0]; it.Thinks != start.Add(time.Second) || it.Thought != 0 {
		t.Error(it.Thinks, it.Thought)
	}
	more := func(at int, b session.Body) {
		tr.Add(session.Event{Body: b, Time: start.Add(time.Duration(at) * time.Second)})
	}
	more(5, live.Delta{Type: live.DeltaText, Text: "x"})
	more(9, answer("x"))
	if it := items[0]; it.Thought != 4*time.Second || !it.Thinks.IsZero() {
		t.Error(it.Thinks, it.Thought)
	}

	var journal Transcript
	part := session.Partial{Content: llm.Content{llm.Thinking{Text: "a"}}}
	items = fold(&journal, part, part, part, session.Partial{Content: llm.Content{llm.Thinking{Text: "b"}, llm.Text{Text: "c"}}}, answer("c"))
	if it := items[0]; it.Thought != 3*time.Second || !it.Thinks.IsZero() {
		t.Error(it.Thinks, it.Thought)
	}
}

// A model that was interrupted does not think on.
func TestTheEndOfARunEndsTheThinking(t *testing.T) {
	var tr Transcript
	it := fold(&tr, live.Delta{Type: live.DeltaThinking, Text: "a"}, session.RunEnded{Reason: session.ReasonCancelled})[0]
	if it.Thought != time.Second || !it.Thinks.IsZero() {
		t.Error(it.Thought, it.Thinks)
	}
}

func TestTheNewestOutputOfACall(t *testing.T) {
	var tr Transcript
	items := fold(&tr, answer("", look), session.CallStarted{Call: "c", Tool: "look"}, live.Progress{Call: "c", Text: "a\n 1%\r 2%\r"}, live.Progress{Call: "c", Text: " 3%\nb"})
	c := items[0].Calls[0]
	if got := c.Output(); got != "a\n 3%\nb" {
		t.Errorf("%q", got)
	}
	for i := range 100_000 {
		c.add(session.Event{Body: live.Progress{Call: "c", Text: fmt.Sprintf("line %d\n", i)}})
	}
	if got := strings.Split(c.Output(), "\n"); len(got) != 200 || got[0] != "line 99800" || len(c.output) > 2*maxOutput {
		t.Error(len(got), got[0], len(c.output))
	}
	c.add(session.Event{Body: live.Progress{Call: "c", Text: strings.Repeat("x", 1<<20)}})
	if n := len(c.Output()); n > maxOutput {
		t.Error(n)
	}
}

func TestTheAnswerToAQuestion(t *testing.T) {
	var tr Transcript
	asking := session.Asking{ID: "q", Questions: []ask.Question{{Text: "which?"}}}
	by := session.Speaker{Kind: session.SpeakerPerson, Name: "web"}
	items := fold(&tr, asking,
		session.Answered{ID: "q"}, // it does not fit
		session.Answered{ID: "q", Answers: []ask.Answer{{Choices: []string{"a"}}}, By: by},
		session.Answered{ID: "q", Answers: []ask.Answer{{Choices: []string{"b"}}}}, session.Asked{ID: "q", Reason: "answered"})
	if it := items[0]; it.Open || it.Answered == nil || it.Answered.By != by || it.Answered.Answers[0].Choices[0] != "a" || it.Asked.Reason != "answered" {
		t.Errorf("%+v", it)
	}
}
