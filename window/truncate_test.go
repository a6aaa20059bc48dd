package window_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// fits fails the test if the last request exceeds the context window of its model.
func (k *talk) fits() {
	k.t.Helper()
	req := *k.last
	req.System, req.Tools = k.header.System, k.header.Tools
	if n := tokens.FamilyOf(k.header.Model).Request(&req); n > k.header.Model.Context {
		k.t.Fatalf("the request has %d tokens of %d", n, k.header.Model.Context)
	}
}

// pinTexts pins messages of these numbers of words, and continues until a summary keeps them.
func (k *talk) pinTexts(words ...int) {
	for i, n := range words {
		k.say(fmt.Sprintf("Pin %d begins. ", i) + strings.Repeat("word ", n) + fmt.Sprintf("Pin %d ends.", i))
		k.pinned = append(k.pinned, k.tip())
		k.ask()
		k.answer("I see.")
	}
	for range 2 {
		k.fill(0.3)
		k.window.Compact(window.Ask{})
		k.say("Go on.")
		k.ask()
		k.fits()
		k.answer("On.")
	}
}

// Pinned messages have a quarter of the context window. The window truncates the longest ones. It announces their entries and what to do.
func TestLongPins(t *testing.T) {
	for name, test := range map[string]struct {
		words []int
		short []int // the indexes of the truncated ones
	}{
		"all fit":                 {[]int{500, 1000, 1500}, nil},
		"one exceeds the quarter": {[]int{100, 7000}, []int{1}},
		"the longest of several":  {[]int{300, 2500, 200, 2600}, []int{1, 3}},
		"many of the same length": {[]int{800, 800, 800, 800, 800, 800, 800, 800}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, window.Options{})
			defer k.window.Close()
			k.loose = true
			k.pinTexts(test.words...)
			sent := texts(k.last.Messages)
			for i, n := range test.words {
				whole := strings.Contains(sent, strings.Repeat("word ", n)+fmt.Sprintf("Pin %d ends.", i))
				short := strings.Contains(fmt.Sprint(test.short), fmt.Sprint(i))
				if whole == short || !strings.Contains(sent, fmt.Sprintf("Pin %d begins.", i)) || !strings.Contains(sent, fmt.Sprintf("Pin %d ends.", i)) {
					t.Errorf("pin %d: whole %t, want truncated %t", i, whole, short)
				}
				begin := fmt.Sprintf("entry %s, %q", k.pinned[i], fmt.Sprintf("Pin %d begins. word word word word word w…", i))
				if announced := strings.Contains(strings.Join(k.notices, "\n"), begin); announced != short {
					t.Errorf("pin %d: announced %t, in %q", i, announced, k.notices)
				}
			}
			if len(test.short) > 0 && !strings.Contains(k.notices[0], "unpin it") {
				t.Errorf("the notice has no advice: %s", k.notices[0])
			}
		})
	}
}

// A model with a larger context window sees pinned messages in full that were truncated before.
func TestLongPinsInALargerContextWindow(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.loose = true
	k.pinTexts(3000, 3000)
	long := strings.Repeat("word ", 3000)
	if strings.Contains(texts(k.last.Messages), long) {
		t.Fatal("the pinned messages fit")
	}
	k.header.Model.Context = 100_000
	k.fill(0.4)
	k.say("Go on.")
	k.window.Compact(window.Ask{})
	k.ask()
	if n := strings.Count(texts(k.last.Messages), long); n != 2 {
		t.Errorf("in a larger context window, %d of 2 pins are whole", n)
	}
}

// A message with [[keep]] stays pinned, however often it is truncated.
func TestLongMarkedMessage(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.loose = true
	k.say("The mill. " + strings.Repeat("word ", 4000) + "[[keep]] " + strings.Repeat("word ", 4000) + "The end.")
	k.ask()
	k.answer("I see.")
	for range 3 {
		k.fill(0.4)
		k.window.Compact(window.Ask{})
		k.say("Go on.")
		k.ask()
		k.fits()
		k.answer("On.")
		sent := texts(k.last.Messages)
		for _, part := range []string{"The mill.", "The end.", "[[keep]]"} {
			if !strings.Contains(sent, part) {
				t.Fatalf("no %q in\n%s", part, sent)
			}
		}
	}
}

// If the context window is too small for messages that no summary replaces, they are truncated, and the session continues.
func TestLongMessages(t *testing.T) {
	results := func(k *talk, n, words int) {
		k.ask()
		var calls []llm.ToolCall
		for i := range n {
			calls = append(calls, llm.ToolCall{ID: fmt.Sprint(i), Name: "shell", Arguments: fmt.Sprintf(`{"n":%d}`, i)})
		}
		k.answer("I look.", calls...)
		for _, c := range calls {
			k.append(session.Message{Message: llm.ToolText(c, "It begins. "+strings.Repeat("word ", words)+"It ends.", false)})
		}
	}
	for name, begin := range map[string]func(*talk){
		"one result":   func(k *talk) { k.say("Look."); results(k, 1, 50_000) },
		"many results": func(k *talk) { k.say("Look."); results(k, 16, 2000) },
		"a pinned result": func(k *talk) {
			k.say("Look.")
			results(k, 1, 50_000)
			k.pinned = append(k.pinned, k.tip())
		},
		"an old question": func(k *talk) { k.say("The log: " + strings.Repeat("word ", 50_000)); k.say("I mean the end.") },
		"an old answer": func(k *talk) {
			k.say("Write.")
			k.ask()
			long := strings.Repeat("word ", 50_000)
			k.answer(long, llm.ToolCall{ID: "1", Name: "write", Arguments: `{"text":"` + long + `"}`})
			k.result(llm.ToolCall{ID: "1", Name: "write"}, "written", "")
			k.say("And?")
		},
		"a smaller model": func(k *talk) {
			k.header.Model.Context = 1_000_000
			k.say("Look.")
			for range 5 {
				results(k, 3, 10_000)
			}
			k.header.Model.ID, k.header.Model.Context = "tiny", 8000
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, window.Options{Cooldown: 1})
			defer k.window.Close()
			k.loose = true
			begin(k)
			for range 5 {
				k.ask()
				k.fits()
				k.answer("On.")
				k.say("Go on.")
			}
		})
	}
}

// The person's last message is never truncated. If it is too long, the request fails before it is sent, and the error has the size. The
// next message of the person gets an answer.
func TestLongLastMessage(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.loose = true
	k.say("The log: " + strings.Repeat("word ", 50_000) + "[[keep]]")
	_, _, err := k.window.Request(t.Context(), k.path, k.header)
	const largest = "the largest part is a message of the user with about 5"
	if code(err) != "window.too_long" || !strings.Contains(err.Error(), largest) || !strings.Contains(err.Error(), "has 16000") {
		t.Fatalf("error = %v", err)
	}
	k.say("It is in log.txt.")
	k.ask()
	k.fits()
	if !strings.Contains(strings.Join(k.notices, "\n"), "is too long for the context window") {
		t.Errorf("notices: %q", k.notices)
	}
}

// If the system prompt alone is too long, the error says so.
func TestLongHeader(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.header.System = strings.Repeat("Be good. ", 20_000)
	k.say("Go.")
	_, _, err := k.window.Request(t.Context(), k.path, k.header)
	if code(err) != "window.too_long" || !strings.Contains(err.Error(), "system prompt and tools have about 6") {
		t.Errorf("error = %v", err)
	}
}

// Whatever must stay, and whatever the context window is: no request exceeds it, each request is valid, and the session continues.
func TestNoRequestIsTooLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newTalk(t, window.Options{Cooldown: 1})
		defer k.window.Close()
		k.loose = true
		size := func(name string) int { return rapid.SampledFrom([]int{1, 20, 200, 2000}).Draw(t, name) }
		windows := []int{2000, 4000, 12_000}
		k.header.Model.Context, k.header.MaxTokens = rapid.SampledFrom(windows).Draw(t, "window"), 0
		k.header.System = strings.Repeat("Be good. ", 80)
		k.context = []session.ContextBlock{{Name: "AGENTS.md", Text: strings.Repeat("A rule. ", rapid.IntRange(1, 120).Draw(t, "rules"))}}
		k.say("Begin.")
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) {},
			"ask": func(t *rapid.T) {
				if req, entries, err := k.window.Request(t.Context(), k.path, k.header); err == nil {
					k.seal(req, entries)
				} else { // the last answer and its results can be too long for a smaller model, and the next message replaces them
					if m, ok := k.path[len(k.path)-1].Body.(session.Message); ok && m.Role == llm.RoleUser {
						t.Fatalf("a message of the person, with a context that fits: %v", err)
					}
					k.say("Go on.")
					k.ask()
				}
				k.fits()
				var calls []llm.ToolCall
				for i := range rapid.IntRange(0, 8).Draw(t, "calls") {
					calls = append(calls, llm.ToolCall{ID: fmt.Sprint(i), Name: "shell", Arguments: fmt.Sprintf(`{"n":%d}`, k.ids)})
				}
				k.answer("On."+strings.Repeat(" word", size("answer")), calls...)
				for _, c := range calls {
					k.result(c, strings.Repeat("word ", size("result")), `{"unknown":true,"exclusive":true}`)
				}
				if len(calls) == 0 {
					k.say("Go on.")
				}
			},
			"say": func(t *rapid.T) {
				k.say(strings.Repeat("word ", size("question")) + rapid.SampledFrom([]string{"", "[[keep]]"}).Draw(t, "mark"))
				k.say("Go on.")
			},
			"pin": func(t *rapid.T) {
				if e := k.path[rapid.IntRange(0, len(k.path)-1).Draw(t, "entry")]; e.Body.Kind() == (session.Message{}).Kind() {
					k.pinned = append(k.pinned, e.ID)
				}
			},
			"model": func(t *rapid.T) {
				k.header.Model.Context = rapid.SampledFrom(windows).Draw(t, "window")
				k.header.Model.ID = fmt.Sprint("model", k.header.Model.Context)
			},
		})
	})
}

// If a server refuses every request for a while, the learned limit still leaves space for later requests.
func TestEndlessOverflows(t *testing.T) {
	cause := &llm.Error{Kind: llm.KindContextOverflow, Message: "too long"}
	for _, context := range []int{0, 4000, 200_000} {
		k := newTalk(t, window.Options{})
		k.loose = true
		k.header.Model.Context, k.header.MaxTokens = context, 0
		k.say("Look.")
		for i := range 40 {
			k.call("shell", fmt.Sprintf(`{"n":%d}`, i), output(i, 30), `{"unknown":true,"exclusive":true}`)
			for range 3 {
				entries, err := k.window.Overflow(t.Context(), k.path, k.header, cause)
				if err != nil {
					break
				}
				k.append(entries...)
				k.ask()
			}
		}
		limit := int64(0)
		for _, e := range k.path {
			if epoch, ok := e.Body.(session.Epoch); ok && epoch.Limit > 0 {
				limit = epoch.Limit
			}
		}
		if least := min(4000, window.Usable(k.header)/2); limit < int64(least) {
			t.Errorf("a model with a context window of %d has the limit %d, want at least %d", context, limit, least)
		}
		k.window.Close()
	}
}

// A session with ten thousand messages, with or without answers between them, needs one request and one summary.
func TestTenThousandMessages(t *testing.T) {
	for name, answered := range map[string]bool{"answered": true, "not answered": false} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, window.Options{Cooldown: 1})
			defer k.window.Close()
			k.loose = true
			for i := range 10_000 {
				if k.say(fmt.Sprintf("No. %d", i)); answered {
					k.append(session.Message{Message: llm.AssistantText("Yes.")})
				}
			}
			k.say("And?")
			k.ask()
			k.fits()
			if n := len(k.last.Messages); n > 4000 {
				t.Errorf("%d messages", n)
			}
		})
	}
}
