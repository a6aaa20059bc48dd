package window_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// fill adds prompts until about this share of the context window is taken. Only a summary can omit them.
func (k *talk) fill(share float64) {
	k.t.Helper()
	const each = 0.05
	usable := float64(window.Usable(k.header))
	for used := 0.0; used < share; used = float64(size(k.last)) / usable {
		if k.last != nil && used+2*each > share { // the last one has the exact rest
			k.say(question(int((share-used)*usable) * 4))
		} else {
			k.say(question(int(each * usable * 4)))
		}
		k.ask()
		k.answer("I see.")
		if used+2*each > share {
			return
		}
	}
}

// question is a prompt of about this many bytes.
func question(bytes int) string {
	const text = "So it is said, and so it stays. "
	return strings.Repeat(text, 1+bytes/len(text))
}

// summaryEnds is the announced ends of summaries, one per line.
func (k *talk) summaryEnds() string {
	var lines []string
	for _, c := range k.compactings {
		if c.Done {
			lines = append(lines, c.Reason+": "+c.Error)
		}
	}
	k.compactings = nil
	return strings.Join(lines, "\n")
}

// The window writes a summary in the background. It takes effect before the first request after it is ready.
func TestSummaryInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{})
		defer k.window.Close()
		k.summarizer = slowly
		k.fill(0.82)
		k.say("Go on.")
		k.ask() // does not wait
		if r := k.reasons(); r != "start" || len(k.compactings) != 1 {
			t.Fatalf("epochs %s, announced %v", r, k.compactings)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		k.ask()
		if r, ends := k.reasons(), k.summaryEnds(); r != "start compaction" || ends != "full: " {
			t.Errorf("epochs %s, summaries %s", r, ends)
		}
		k.answer("Done.")
		k.fill(0.82) // within the cooldown, no second summary starts before the context window is full
		k.say("Go on.")
		k.ask()
		if len(k.compactings) > 0 {
			t.Errorf("announced %v", k.compactings)
		}
		k.answer("Done.")
		time.Sleep(3 * time.Minute)
		k.say("And on.")
		k.ask()
		if len(k.compactings) != 1 {
			t.Errorf("announced %v", k.compactings)
		}
	})
}

// A summary has no effect if the session is on another branch when it is ready.
func TestSummaryOfAnotherBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{})
		defer k.window.Close()
		k.summarizer = slowly
		k.say("Begin.")
		k.ask()
		begin := k.tip()
		k.answer("I begin.")
		k.fill(0.82)
		k.say("Go on.")
		k.ask()
		k.append(session.Head{To: begin, Reason: "rewind"})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		k.ask()
		if r, ends := k.reasons(), k.summaryEnds(); r != "start" || ends != "full: the conversation has changed its branch" {
			t.Errorf("epochs %s, summaries %s", r, ends)
		}
	})
}

// The window reports the cost of each summary without effect once.
func TestCostOfUnusedSummaries(t *testing.T) {
	spent := int64(0)
	o := window.Options{Spent: func(model string, u llm.Usage) {
		if spent += u.Output; model != "test/writer" {
			t.Errorf("by %q", model)
		}
	}}
	expensive := func(summary string, err error) func(context.Context, window.Task) (session.Summarized, error) {
		return func(context.Context, window.Task) (session.Summarized, error) {
			<-time.After(time.Minute)
			return session.Summarized{Summary: summary, By: "test/writer", Usage: llm.Usage{Output: 7}}, err
		}
	}
	for name, test := range map[string]struct {
		summarizer func(context.Context, window.Task) (session.Summarized, error)
		end        func(k *talk)
		want       int64
	}{
		"it takes effect":         {expensive("All is well.", nil), func(k *talk) { k.ask() }, 0},
		"it failed":               {expensive("", errTired), func(k *talk) { k.ask() }, 7},
		"it frees nothing, twice": {expensive(strings.Repeat("long ", 20_000), nil), func(k *talk) { k.ask() }, 14},
		"the window is closed":    {expensive("All is well.", nil), func(k *talk) { k.window.Close() }, 7},
		"another branch":          {expensive("All is well.", nil), func(k *talk) { k.append(session.Head{To: "e2"}); k.ask() }, 7},
	} {
		t.Run(name, func(t *testing.T) {
			spent = 0
			synctest.Test(t, func(t *testing.T) {
				k := newTalk(t, o)
				defer k.window.Close()
				k.summarizer = test.summarizer
				k.fill(0.82)
				k.say("Go on.")
				k.ask()
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				test.end(k)
				k.window.Close()
			})
			if spent != test.want {
				t.Errorf("spent %d, want %d", spent, test.want)
			}
		})
	}
}

// After two failures of the model, the window writes summaries without it until a person requests one.
func TestFailingSummarizer(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1})
	defer k.window.Close()
	asked := 0
	k.summarizer = func(context.Context, window.Task) (session.Summarized, error) {
		asked++
		return session.Summarized{}, errTired
	}
	next := func() {
		k.say(question(8000))
		k.ask()
		k.answer("On.")
	}
	for range 30 {
		next()
	}
	ends := k.summaryEnds()
	if n := len(k.summaries()); asked != 2 || n < 3 || strings.Count(ends, "\n")+1 != n ||
		!strings.Contains(ends, "tired; until you request a summary, Tenon writes summaries without a model") {
		t.Errorf("asked %d times, epochs %s, summaries\n%s", asked, k.reasons(), ends)
	}
	k.window.Compact(window.Ask{})
	if next(); asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

// A summary that failed a minute ago in another process does not begin again at once. After two failures, the model is not asked. A person's
// request asks it in any case.
func TestFailuresOfEarlierProcesses(t *testing.T) {
	for failures, want := range map[int]struct{ early, late int }{0: {1, 1}, 1: {0, 1}, 2: {0, 0}} {
		for _, asks := range []bool{false, true} {
			t.Run(fmt.Sprint(failures, asks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					at := time.Now().Add(-time.Minute)
					if failures == 0 {
						at = time.Time{}
					}
					k := newTalk(t, window.Options{
						Failures: func() (int, time.Time) { return failures, at },
					})
					defer k.window.Close()
					asked := 0
					k.summarizer = func(ctx context.Context, task window.Task) (session.Summarized, error) {
						asked++
						return slowly(ctx, task)
					}
					if asks {
						k.fill(0.5)
						k.window.Compact(window.Ask{})
						k.say("Go on.")
						if k.ask(); asked != 1 {
							t.Errorf("asked %d times", asked)
						}
						return
					}
					k.fill(0.82)
					k.say("Go on.")
					k.ask()
					synctest.Wait()
					if asked != want.early {
						t.Errorf("asked %d times at once", asked)
					}
					time.Sleep(2 * time.Minute) // three since the failure
					k.ask()
					synctest.Wait()
					if asked != want.late {
						t.Errorf("asked %d times later", asked)
					}
				})
			})
		}
	}
}

// If the run ends while a summary is written, the summary is cancelled. This does not count as a failure.
func TestCancellationIsNoFailure(t *testing.T) {
	for name, end := range map[string]func(k *talk, cancel context.CancelFunc){
		"the run ends":               func(_ *talk, cancel context.CancelFunc) { cancel() },
		"the run and the window end": func(k *talk, cancel context.CancelFunc) { cancel(); k.window.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newTalk(t, window.Options{})
				k.summarizer = slowly
				k.fill(0.5)
				k.say("Go on.")
				for range 3 { // more often than a model may fail
					k.window.Compact(window.Ask{})
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Second, func() { end(k, cancel) })
					if _, _, err := k.window.Request(ctx, k.path, k.header); !errors.Is(err, context.Canceled) {
						t.Errorf("error = %v", err)
					}
					if ends := k.summaryEnds(); ends != "asked: cancelled" {
						t.Errorf("summaries %s", ends)
					}
				}
				k.summarizer = nil
				k.window.Compact(window.Ask{})
				if k.ask(); !strings.HasSuffix(k.reasons(), "compaction") {
					t.Errorf("epochs: %s", k.reasons())
				}
			})
		})
	}
}

// Close ends the summary in the background, and the window starts no further one.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{})
		k.summarizer = slowly
		k.fill(0.82)
		k.say("Go on.")
		k.ask()
		k.window.Close()
		k.window.Close()
		k.answer("On.")
		k.say("And on.")
		k.ask()
		synctest.Wait()
		if r := k.reasons(); r != "start" {
			t.Errorf("epochs %s", r)
		}
	})
}

// A request for a summary with a focus replaces the summary in the background. Without a focus, the request uses that summary.
func TestFocus(t *testing.T) {
	for _, test := range []struct {
		focus, want string
	}{{"the mill", "full: cancelled\nasked: "}, {"", "full: "}} {
		synctest.Test(t, func(t *testing.T) {
			k := newTalk(t, window.Options{})
			defer k.window.Close()
			k.summarizer = slowly
			k.fill(0.82)
			k.say("Go on.")
			k.ask()
			k.window.Compact(window.Ask{Focus: test.focus})
			k.ask()
			if ends := k.summaryEnds(); ends != test.want {
				t.Errorf("focus %q: summaries\n%s", test.focus, ends)
			}
			d := k.summaries()[0]
			if d.Focus != test.focus {
				t.Errorf("summary = %+v", d)
			}
		})
	}
}

func (k *talk) summaries() []session.Summarized {
	var out []session.Summarized
	for _, e := range k.path {
		if d, ok := e.Body.(session.Summarized); ok {
			out = append(out, d)
		}
	}
	return out
}

// If a provider refuses a request to a model with an unknown context window, the window learns a limit. If it refuses again, the limit
// halves.
func TestOverflowOfAnUnknownContextWindow(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.header.Model.Context = 0
	k.say("Look.")
	for i := range 40 {
		k.call("shell", fmt.Sprintf(`{"n":%d}`, i), output(i, 100), `{"unknown":true,"exclusive":true}`)
	}
	k.ask()
	before := size(k.last)
	cause := &llm.Error{Kind: llm.KindContextOverflow, Message: "too long"}
	for range 2 {
		entries, err := k.window.Overflow(t.Context(), k.path, k.header, cause)
		if err != nil {
			t.Fatal(err)
		}
		k.append(entries...)
		if k.ask(); size(k.last) >= before {
			t.Fatalf("%d tokens after %d", size(k.last), before)
		}
		before = size(k.last)
	}
	limit := int64(0)
	for _, e := range k.path {
		if epoch, ok := e.Body.(session.Epoch); ok {
			limit = epoch.Limit
		}
	}
	k.say(question(int(limit) * 4))
	again := window.New(window.Options{}) // in another process
	defer again.Close()
	if r, err := again.Room(t.Context(), k.path, k.header); err != nil || limit == 0 || r.Level != window.Critical {
		t.Errorf("the limit of %d tokens is forgotten: %+v, %v", limit, r, err)
	}
	if k.header.Model.ID = "other"; window.Usable(k.header) <= int(limit) {
		t.Error("the level would be critical without the limit")
	}
	if r, err := again.Room(t.Context(), k.path, k.header); err != nil || r.Level != window.Normal {
		t.Errorf("another model has the limit: %+v, %v", r, err)
	}
}

// The figures of a refusal are the limit. Figures of another request are none.
func TestOverflowWithFigures(t *testing.T) {
	for _, test := range []struct {
		name      string
		declared  int
		window    int
		more      int // tokens of the request as the provider counts, in percent of the estimate
		has, over int // the limit in percent of the provider's window, at least and at most; 0: no limit
	}{
		{"a smaller window", 200_000, 10_000, 120, 50, 84},
		{"the estimate is right", 200_000, 10_000, 100, 70, 100},
		{"with an answer", 200_000, 10_000, 90, 70, 100},
		{"an unknown window", 0, 10_000, 100, 70, 100},
		{"of another request", 200_000, 200_000, 1000, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newTalk(t, window.Options{})
			defer k.window.Close()
			k.header.Model.Context, k.header.MaxTokens = test.declared, 0
			k.say("Look.")
			for i := range 40 {
				k.call("shell", fmt.Sprintf(`{"n":%d}`, i), output(i, 100), `{"unknown":true,"exclusive":true}`)
			}
			k.ask()
			before := size(k.last)
			cause := &llm.Error{Kind: llm.KindContextOverflow, Window: test.window, Tokens: before * test.more / 100}
			entries, err := k.window.Overflow(t.Context(), k.path, k.header, cause)
			if err != nil {
				t.Fatal(err)
			}
			k.append(entries...)
			if k.ask(); size(k.last) >= before {
				t.Errorf("%d tokens after %d", size(k.last), before)
			}
			limit := int(k.lastEpoch().Limit)
			if limit < test.window*test.has/100 || limit > test.window*test.over/100 {
				t.Errorf("the limit is %d", limit)
			}
			if limit > 0 && size(k.last) > limit {
				t.Errorf("the next request has %d tokens", size(k.last))
			}
			if want := fmt.Sprintf("it accepts %d tokens", test.window); len(k.notices) != 1 || !strings.Contains(k.notices[0], want) {
				t.Errorf("notices %q", k.notices)
			}
		})
	}
}

// If the window can omit nothing, the error names the largest part of the request.
func TestOverflowWithNothingToOmit(t *testing.T) {
	cause := &llm.Error{Kind: llm.KindContextOverflow, Message: "too long"}
	for name, test := range map[string]struct {
		begin func(*talk)
		want  string
	}{
		"nothing said": {func(*talk) {}, "there are no messages"},
		"one question": {func(k *talk) { k.say(strings.Repeat("long ", 9000)) }, "the largest part is a message of the user with about"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, window.Options{})
			defer k.window.Close()
			test.begin(k)
			_, err := k.window.Overflow(t.Context(), k.path, k.header, cause)
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// If the context window is full and the window can omit nothing, it blocks calls. A manual window does so too.
func TestBlocked(t *testing.T) {
	for name, o := range map[string]window.Options{"nothing to omit": {}, "manual": {Manual: true}} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, o)
			defer k.window.Close()
			k.say(strings.Repeat("long ", 13_500))
			k.ask()
			k.answer("I look.", llm.ToolCall{ID: "1", Name: "shell"})
			room, err := k.window.Room(t.Context(), k.path, k.header)
			if err != nil || !room.Blocked || room.Level != window.Critical {
				t.Errorf("room = %+v, %v", room, err)
			}
		})
	}
}

// After a revert, the model sees its lesson but not its attempts. A revert to an unknown entry has no effect.
func TestRevert(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.say("Climb.")
	k.ask()
	before := texts(k.last.Messages)
	k.append(session.Todo{Items: []session.TodoItem{{Text: "climb", Status: "pending"}}})
	back := k.tip()
	k.call("shell", `{}`, "it is steep", `{"unknown":true,"exclusive":true}`)
	k.append(session.Revert{To: "nowhere", Category: "failure", Lesson: "x"})
	if k.ask(); strings.Contains(texts(k.last.Messages), "reverted") {
		t.Error("the revert to an unknown entry has an effect")
	}
	k.append(session.Revert{To: back, Category: "failure", Lesson: "the north side is too steep"})
	k.ask()
	after, ok := strings.CutPrefix(texts(k.last.Messages), before)
	if !ok || !strings.Contains(after, "too steep") || strings.Contains(after, "it is steep") {
		t.Errorf("the request is\n%s", texts(k.last.Messages))
	}
	if r := k.reasons(); r != "start revert" {
		t.Errorf("epochs: %s", r)
	}
	tip := k.tip()
	if k.ask(); k.reasons() != "start revert" || tip == k.tip() {
		t.Errorf("epochs: %s", k.reasons())
	}
}

// The next epoch, whatever its reason, trims the result that the model discarded: the newest one with this call ID.
func TestCleanup(t *testing.T) {
	for name, next := range map[string]func(k *talk){
		"the system prompt":     func(k *talk) { k.header.System = "Be better." },
		"a summary":             func(k *talk) { k.window.Compact(window.Ask{}) },
		"a revert":              func(k *talk) { k.append(session.Revert{To: k.tip(), Category: "step", Lesson: "so far"}) },
		"the model, and pinned": func(k *talk) { k.header.Model.ID = "other"; k.pinned = append(k.pinned, "e13") },
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, window.Options{})
			defer k.window.Close()
			k.fill(0.2)
			k.say("Look.")
			k.ask()
			c := llm.ToolCall{ID: "1", Name: "list", Arguments: `{}`}
			k.answer("I look.", c)
			k.result(c, "the first list", "")
			k.ask()
			k.answer("Again.", c)
			k.result(c, "the second list", "")
			second := k.tip()
			k.ask()
			k.answer("Found.")
			k.append(session.Cleanup{Call: "1", Reason: "not needed", Summary: "two lines"})
			k.say("Go on.")
			k.ask()
			if strings.Contains(texts(k.last.Messages), "You discarded this result") {
				t.Error("the result is trimmed before the next epoch")
			}
			pinned := strings.Contains(name, "pinned")
			if next(k); pinned {
				k.pinned = []session.ID{second}
			}
			k.ask()
			sent := texts(k.last.Messages)
			if gone := !strings.Contains(sent, "the second list") && strings.Contains(sent, "two lines"); gone == pinned {
				t.Errorf("sent\n%s", sent)
			}
		})
	}
}

// After fifty summaries, their texts and verbatim messages are bounded, and the first prompt is still there.
func TestManySummaries(t *testing.T) {
	k := newTalk(t, window.Options{KeepTurns: 300})
	defer k.window.Close()
	k.say("The goal is a mill.")
	for i := range 50 {
		for j := range 6 {
			k.call("shell", fmt.Sprintf(`{"n":%d}`, j), output(i, 40), `{"unknown":true,"exclusive":true,"writes":[{"name":"/f`+fmt.Sprint(i)+`"}]}`)
		}
		k.say(fmt.Sprintf("Question %d, with a bit more to read: ", i) + strings.Repeat("word ", 30))
		k.window.Compact(window.Ask{})
		k.ask()
	}
	all := k.summaries()
	if len(all) < 50 {
		t.Fatalf("%d summaries", len(all))
	}
	for i, d := range all {
		kept := 0
		for _, m := range d.Verbatim {
			kept += len(m.Message.Text()) / 4
		}
		if len(d.Summary) > 4*800 || kept > 300 || len(d.Files) > 50 {
			t.Errorf("summary %d: %d bytes, about %d verbatim tokens, %d files", i, len(d.Summary), kept, len(d.Files))
		}
		if !strings.Contains(d.Summary, "## Goal\nThe goal is a mill.") || len(d.Verbatim) == 0 || d.Verbatim[0].Message.Text() != "The goal is a mill." {
			t.Errorf("summary %d has lost the goal: %s", i, d.Summary)
		}
	}
}

// Pinned messages of every role stay. Unpinned messages go.
func TestPins(t *testing.T) {
	k := newTalk(t, window.Options{KeepTurns: 60})
	defer k.window.Close()
	k.say("Begin.")
	k.call("shell", `{}`, "the result that matters", `{"unknown":true,"exclusive":true}`)
	result := k.tip()
	k.ask()
	k.answer("The answer that matters.")
	answer := k.tip()
	summarize := func(pins ...session.ID) string {
		k.fill(0.4)
		k.pinned = pins
		k.window.Compact(window.Ask{})
		k.say("Go on.")
		k.ask()
		k.answer("On.")
		return texts(k.last.Messages)
	}
	for range 3 {
		if sent := summarize(result, answer); !strings.Contains(sent, `<kept tool="shell">`) || !strings.Contains(sent, "You said: The answer that matters.") {
			t.Fatalf("sent\n%s", sent)
		}
	}
	if sent := summarize(answer); strings.Contains(sent, "the result that matters") || !strings.Contains(sent, "The answer that matters.") {
		t.Errorf("sent\n%s", sent)
	}
	if sent := summarize(result, answer); !strings.Contains(sent, "the result that matters") { // it is older than the previous summary
		t.Errorf("sent\n%s", sent)
	}
}

var errNotFound = errors.New("not found")

// Request returns the errors of the functions in its options and of its path.
func TestErrorsOfOptions(t *testing.T) {
	for name, o := range map[string]window.Options{
		"context": {Context: func(context.Context, []session.ContextBlock) ([]session.ContextBlock, error) { return nil, errNotFound }},
		"pins":    {Pins: func(context.Context) ([]session.Verbatim, error) { return nil, errNotFound }},
		"files":   {Files: func(context.Context, []string, int) ([]session.ContextBlock, error) { return nil, errNotFound }},
	} {
		t.Run(name, func(t *testing.T) {
			w := window.New(o)
			defer w.Close()
			w.Compact(window.Ask{})
			if _, _, err := w.Request(t.Context(), full(header(), 30), header()); !errors.Is(err, errNotFound) {
				t.Errorf("error = %v", err)
			}
		})
	}
	w := window.New(window.Options{})
	defer w.Close()
	if _, _, err := w.Request(t.Context(), damaged(1), header()); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
	if _, err := w.Room(t.Context(), damaged(0), header()); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
	if _, err := w.Overflow(t.Context(), damaged(0), header(), errNotFound); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
	if _, err := window.Seal(t.Context(), damaged(0), nil, &llm.Request{}); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
}

// A summary has the files in use. It does not repeat the versions of the previous summary.
func TestFilesInUse(t *testing.T) {
	n := 0
	k := newTalk(t, window.Options{Files: func(_ context.Context, names []string, _ int) ([]session.ContextBlock, error) {
		n++
		if !slices.Contains(names, "/f0") || slices.Contains(names, "/f7") { // the read of /f7 stays
			t.Errorf("files %v", names)
		}
		return []session.ContextBlock{{Name: "file /mill.go", Text: fmt.Sprintf("version %d", n)}}, nil
	}})
	defer k.window.Close()
	k.say("Build.")
	for range 2 {
		for i := range 8 {
			k.call("read", fmt.Sprintf(`{"path":"/f%d"}`, i), output(i, 30), fmt.Sprintf(`{"reads":[{"name":"/f%d"}]}`, i))
		}
		k.window.Compact(window.Ask{})
		k.ask()
	}
	if sent := texts(k.last.Messages); n != 2 || strings.Contains(sent, "version 1") || !strings.Contains(sent, "version 2") {
		t.Errorf("sent\n%s", sent)
	}
	k.answer("Done.")
	k.say("Go on.")
	if k.ask(); strings.Contains(texts(k.last.Messages), "gone") {
		t.Error("the context marks a file of the summary as removed")
	}
}

// After a summary, half of a small context window is free, even with long results and many files.
func TestSummaryLeavesHalfFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{Cooldown: 1, Files: func(_ context.Context, _ []string, tokens int) ([]session.ContextBlock, error) {
			return []session.ContextBlock{{Name: "file /mill.go", Text: strings.Repeat("mill ", tokens-20)}}, nil
		}})
		defer k.window.Close()
		k.header.System = strings.Repeat("Be good. ", 700) // as much as tools and instructions take
		k.say("Build a mill.")
		for i := range 60 {
			time.Sleep(time.Second)
			synctest.Wait() // the summary in the background is ready
			k.call("read", fmt.Sprintf(`{"path":"/f%d"}`, i), output(i, 200), fmt.Sprintf(`{"reads":[{"name":"/f%d"}]}`, i))
		}
		summaries, usable := k.summaries(), int64(window.Usable(k.header))
		for i, d := range summaries {
			if d.After > usable/2+usable/50 {
				t.Errorf("after summary %d, the request has %d tokens of %d", i, d.After, usable)
			}
		}
		if len(summaries) < 5 {
			t.Errorf("%d summaries", len(summaries))
		}
	})
}
