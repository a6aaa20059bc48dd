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

// fill says so much that about such a share of the window is taken, of which nothing can be left out but by a digest.
func (k *talk) fill(share float64) {
	k.t.Helper()
	const each = 0.05
	usable := float64(window.Usable(k.header))
	for used := 0.0; used < share; used = float64(size(k.last)) / usable {
		if k.last != nil && used+2*each > share { // the last one, to the point
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

// question is a question of so many bytes.
func question(bytes int) string {
	const text = "So it is said, and so it stays. "
	return strings.Repeat(text, 1+bytes/len(text))
}

// toldOf is what people were told of digests: their ends, one a line.
func (k *talk) toldOf() string {
	var lines []string
	for _, c := range k.told {
		if c.Done {
			lines = append(lines, c.Reason+": "+c.Error)
		}
	}
	k.told = nil
	return strings.Join(lines, "\n")
}

// A digest is written in the background, and takes effect before the first request after it is there.
func TestADigestInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{})
		defer k.window.Close()
		k.digest = slowly
		k.fill(0.82)
		k.say("Go on.")
		k.ask() // nobody waits
		if r := k.reasons(); r != "start" || len(k.told) != 1 {
			t.Fatalf("epochs %s, told %v", r, k.told)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		k.ask()
		if r, told := k.reasons(), k.toldOf(); r != "start compaction" || told != "full: " {
			t.Errorf("epochs %s, told %s", r, told)
		}
		k.answer("Done.")
		k.fill(0.82) // again, and soon: within the cooldown no second one is begun before the window is full
		k.say("Go on.")
		k.ask()
		if len(k.told) > 0 {
			t.Errorf("told %v", k.told)
		}
		k.answer("Done.")
		time.Sleep(3 * time.Minute)
		k.say("And on.")
		k.ask()
		if len(k.told) != 1 {
			t.Errorf("told %v", k.told)
		}
	})
}

// A digest that is ready when the conversation has gone another way is of no use.
func TestADigestOfAnotherBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{})
		defer k.window.Close()
		k.digest = slowly
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
		if r, told := k.reasons(), k.toldOf(); r != "start" || told != "full: the conversation has changed its branch" {
			t.Errorf("epochs %s, told %s", r, told)
		}
	})
}

// What digests have cost that take no effect is told, each once.
func TestWhatWasSpentInVain(t *testing.T) {
	spent := int64(0)
	o := window.Options{Spent: func(model string, u llm.Usage) {
		if spent += u.Output; model != "test/writer" {
			t.Errorf("by %q", model)
		}
	}}
	dear := func(summary string, err error) func(context.Context, window.Task) (session.Summarized, error) {
		return func(context.Context, window.Task) (session.Summarized, error) {
			<-time.After(time.Minute) // as slowly
			return session.Summarized{Summary: summary, By: "test/writer", Usage: llm.Usage{Output: 7}}, err
		}
	}
	for name, test := range map[string]struct {
		digest func(context.Context, window.Task) (session.Summarized, error)
		end    func(k *talk)
		want   int64
	}{
		"it takes effect":         {dear("All is well.", nil), func(k *talk) { k.ask() }, 0},
		"it failed":               {dear("", errTired), func(k *talk) { k.ask() }, 7},
		"it frees nothing, twice": {dear(strings.Repeat("long ", 20_000), nil), func(k *talk) { k.ask() }, 14},
		"the window is closed":    {dear("All is well.", nil), func(k *talk) { k.window.Close() }, 7},
		"another branch":          {dear("All is well.", nil), func(k *talk) { k.append(session.Head{To: "e2"}); k.ask() }, 7},
	} {
		t.Run(name, func(t *testing.T) {
			spent = 0
			synctest.Test(t, func(t *testing.T) {
				k := newTalk(t, o)
				defer k.window.Close()
				k.digest = test.digest
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

// A model that cannot write a digest is asked twice; then the window makes do without it, until somebody asks.
func TestAModelThatFails(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1})
	defer k.window.Close()
	asked := 0
	k.digest = func(context.Context, window.Task) (session.Summarized, error) {
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
	told := k.toldOf()
	if n := len(k.digests()); asked != 2 || n < 3 || strings.Count(told, "\n")+1 != n ||
		!strings.Contains(told, "tired; until you request a summary, Tenon writes summaries without a model") {
		t.Errorf("asked %d times, epochs %s, told\n%s", asked, k.reasons(), told)
	}
	k.window.Compact(window.Ask{})
	if next(); asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

// Who leaves while a digest is written is not told of a failure, and the digest is none.
func TestACancelIsNoFailure(t *testing.T) {
	for name, end := range map[string]func(k *talk, cancel context.CancelFunc){
		"the run ends":            func(_ *talk, cancel context.CancelFunc) { cancel() },
		"the run ends, and later": func(k *talk, cancel context.CancelFunc) { cancel(); k.window.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newTalk(t, window.Options{})
				k.digest = slowly
				k.fill(0.5)
				k.say("Go on.")
				for range 3 { // three times is more often than a model may fail
					k.window.Compact(window.Ask{})
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Second, func() { end(k, cancel) })
					if _, _, err := k.window.Request(ctx, k.path, k.header); !errors.Is(err, context.Canceled) {
						t.Errorf("error = %v", err)
					}
					if told := k.toldOf(); told != "asked: cancelled" {
						t.Errorf("told %s", told)
					}
				}
				k.digest = nil
				k.window.Compact(window.Ask{})
				if k.ask(); !strings.HasSuffix(k.reasons(), "compaction") {
					t.Errorf("epochs: %s", k.reasons())
				}
			})
		})
	}
}

// Closing ends what is written in the background, and nothing is begun any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{})
		k.digest = slowly
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

// A digest with a focus is a new one, also when another is being written; without, the one that is being written will do.
func TestAFocus(t *testing.T) {
	for _, test := range []struct {
		focus, told string
	}{{"the mill", "full: cancelled\nasked: "}, {"", "full: "}} {
		synctest.Test(t, func(t *testing.T) {
			k := newTalk(t, window.Options{})
			defer k.window.Close()
			k.digest = slowly
			k.fill(0.82)
			k.say("Go on.")
			k.ask()
			k.window.Compact(window.Ask{Focus: test.focus})
			k.ask()
			if told := k.toldOf(); told != test.told {
				t.Errorf("focus %q: told\n%s", test.focus, told)
			}
			d := k.digests()[0]
			if d.Focus != test.focus {
				t.Errorf("digest = %+v", d)
			}
		})
	}
}

func (k *talk) digests() []session.Summarized {
	var out []session.Summarized
	for _, e := range k.path {
		if d, ok := e.Body.(session.Summarized); ok {
			out = append(out, d)
		}
	}
	return out
}

// A provider refuses a request whose model's window nobody knows: the window learns, and halves when it did not learn enough.
func TestOverflowOfAnUnknownWindow(t *testing.T) {
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
		t.Error("it would be critical anyway")
	}
	if r, err := again.Room(t.Context(), k.path, k.header); err != nil || r.Level != window.Normal {
		t.Errorf("another model has the limit: %+v, %v", r, err)
	}
}

// A request of which nothing can be taken out says what is so large.
func TestNothingToTakeOut(t *testing.T) {
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

// A window that is full and of which nothing can be left out blocks the calls; so does one that only people may make smaller.
func TestBlocked(t *testing.T) {
	for name, o := range map[string]window.Options{"nothing to leave out": {}, "manual": {Manual: true}} {
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

// The model goes back: what it tried is gone, what it learned stands there, and the place it goes back to must be one.
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
		t.Error("it went nowhere")
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

// What the model gives up is out of its window with the next epoch, whatever that begins for: the newest result of that name.
func TestCleanup(t *testing.T) {
	for name, next := range map[string]func(k *talk){
		"the system prompt":     func(k *talk) { k.header.System = "Be better." },
		"a digest":              func(k *talk) { k.window.Compact(window.Ask{}) },
		"the model goes back":   func(k *talk) { k.append(session.Revert{To: k.tip(), Category: "step", Lesson: "so far"}) },
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
				t.Error("it is given up before its epoch")
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

// Fifty digests, one after the other: what is kept and what is told stays bounded, and what was asked first is still there.
func TestAChainOfDigests(t *testing.T) {
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
	all := k.digests()
	if len(all) < 50 {
		t.Fatalf("%d digests", len(all))
	}
	for i, d := range all {
		kept := 0
		for _, m := range d.Verbatim {
			kept += len(m.Message.Text()) / 4
		}
		if len(d.Summary) > 4*800 || kept > 300 || len(d.Files) > 50 {
			t.Errorf("digest %d: a summary of %d bytes, about %d tokens kept, %d files", i, len(d.Summary), kept, len(d.Files))
		}
		if !strings.Contains(d.Summary, "## Goal\nThe goal is a mill.") || len(d.Verbatim) == 0 || d.Verbatim[0].Message.Text() != "The goal is a mill." {
			t.Errorf("digest %d has lost the goal: %s", i, d.Summary)
		}
	}
}

// What is pinned stays whatever it is; what is not pinned any more goes.
func TestPins(t *testing.T) {
	k := newTalk(t, window.Options{KeepTurns: 60})
	defer k.window.Close()
	k.say("Begin.")
	k.call("shell", `{}`, "the result that matters", `{"unknown":true,"exclusive":true}`)
	result := k.tip()
	k.ask()
	k.answer("The answer that matters.")
	answer := k.tip()
	digest := func(pins ...session.ID) string {
		k.fill(0.4)
		k.pinned = pins
		k.window.Compact(window.Ask{})
		k.say("Go on.")
		k.ask()
		k.answer("On.")
		return texts(k.last.Messages)
	}
	for range 3 {
		if sent := digest(result, answer); !strings.Contains(sent, `<kept tool="shell">`) || !strings.Contains(sent, "You said: The answer that matters.") {
			t.Fatalf("sent\n%s", sent)
		}
	}
	if sent := digest(answer); strings.Contains(sent, "the result that matters") || !strings.Contains(sent, "The answer that matters.") {
		t.Errorf("sent\n%s", sent)
	}
	if sent := digest(result, answer); !strings.Contains(sent, "the result that matters") { // it lies further back than the digest
		t.Errorf("sent\n%s", sent)
	}
}

var errNoPlace = errors.New("no such place")

// What the window asks others for may fail.
func TestErrorsOfOthers(t *testing.T) {
	for name, o := range map[string]window.Options{
		"context": {Context: func(context.Context, []session.ContextBlock) ([]session.ContextBlock, error) { return nil, errNoPlace }},
		"pins":    {Pins: func(context.Context) ([]session.Verbatim, error) { return nil, errNoPlace }},
		"files":   {Files: func(context.Context, []string, int) ([]session.ContextBlock, error) { return nil, errNoPlace }},
	} {
		t.Run(name, func(t *testing.T) {
			w := window.New(o)
			defer w.Close()
			w.Compact(window.Ask{})
			if _, _, err := w.Request(t.Context(), full(header(), 30), header()); !errors.Is(err, errNoPlace) {
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
	if _, err := w.Overflow(t.Context(), damaged(0), header(), errNoPlace); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
	if _, err := window.Seal(t.Context(), damaged(0), nil, &llm.Request{}); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
}

// The files in work are told in a digest, and those of the digest before are not told again.
func TestFilesInWork(t *testing.T) {
	n := 0
	k := newTalk(t, window.Options{Files: func(_ context.Context, names []string, _ int) ([]session.ContextBlock, error) {
		n++
		if !slices.Contains(names, "/f0") || slices.Contains(names, "/f7") { // whose read stays
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
		t.Error("what a digest tells beside the place is told to be gone")
	}
}

// However much there is to be told again, and however long the results are, half of a small window is free after a digest.
func TestADigestLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, window.Options{Cooldown: 1, Files: func(_ context.Context, _ []string, tokens int) ([]session.ContextBlock, error) {
			return []session.ContextBlock{{Name: "file /mill.go", Text: strings.Repeat("mill ", tokens-20)}}, nil
		}})
		defer k.window.Close()
		k.header.System = strings.Repeat("Be good. ", 700) // as much as tools and instructions take
		k.say("Build a mill.")
		for i := range 60 {
			time.Sleep(time.Second)
			synctest.Wait() // the digest that was begun is written
			k.call("read", fmt.Sprintf(`{"path":"/f%d"}`, i), output(i, 200), fmt.Sprintf(`{"reads":[{"name":"/f%d"}]}`, i))
		}
		digests, usable := k.digests(), int64(window.Usable(k.header))
		for i, d := range digests {
			if d.After > usable/2+usable/50 {
				t.Errorf("digest %d leaves %d tokens of %d", i, d.After, usable)
			}
		}
		if len(digests) < 5 {
			t.Errorf("%d digests", len(digests))
		}
	})
}
