package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// manyPins pins this many messages for a model with much space: half of them with [[keep]], half of them by a person.
func (k *talk) manyPins(n int) {
	k.t.Helper()
	k.loose = true
	k.header.Model.Context, k.header.MaxTokens = 100_000, 0
	k.say("Begin.")
	for i := range n {
		text := fmt.Sprintf("Pin %d begins. %sPin %d ends.", i, strings.Repeat("word ", 200), i)
		if i%2 == 0 {
			text += " [[keep]]"
		}
		if k.say(text); i%2 == 1 {
			k.pinned = append(k.pinned, k.tip())
		}
		k.ask()
		k.answer("I see.")
	}
	k.window.Compact(window.Ask{})
	k.say("Go on.")
	k.ask()
	k.answer("On.")
}

// sees fails the test unless the last request has all the pinned messages from first to last in full, if whole, or none of these.
func (k *talk) sees(first, last int, whole bool) {
	k.t.Helper()
	sent := texts(k.last.Messages)
	for i := first; i <= last; i++ {
		want := fmt.Sprintf("Pin %d begins. %sPin %d ends.", i, strings.Repeat("word ", 200), i)
		if !whole {
			want = fmt.Sprintf("Pin %d begins.", i)
		}
		if strings.Contains(sent, want) != whole {
			k.t.Errorf("pin %d in the request: %t, want %t", i, !whole, whole)
		}
	}
}

// If even the beginnings of the pinned messages are too many for a smaller model, the model sees the newest ones. A person reads which ones
// it does not see. After the next summary for a larger model, it sees all of them in full again.
func TestMorePinsThanFit(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1})
	defer k.window.Close()
	k.header.System = strings.Repeat("Be good. ", 80)
	k.context = []session.ContextBlock{{Name: "AGENTS.md", Text: strings.Repeat("A rule. ", 100)}}
	k.manyPins(40)

	k.header.Model.ID, k.header.Model.Context = "tiny", 2000
	k.say("And now?")
	k.ask()
	k.fits()
	sent := texts(k.last.Messages)
	if last := k.last.Messages[len(k.last.Messages)-1]; last.Text() != "And now?" || !strings.Contains(sent, "A rule. A rule.") {
		t.Errorf("the context and the last message are not in\n%s", sent)
	}
	k.sees(0, 30, false)
	if !strings.Contains(sent, "Pin 39 begins.") || !strings.Contains(sent, "[pinned messages omitted: 3") {
		t.Errorf("the newest pin and the number of omitted pins are not in\n%s", sent)
	}
	notices := strings.Join(k.notices, "\n")
	if !strings.Contains(notices, "the model does not see 3") || !strings.Contains(notices, string(k.pinned[0])+" ") {
		t.Errorf("no notice names the omitted pins: %q", k.notices)
	}

	k.answer("On.")
	k.header.Model.ID, k.header.Model.Context = "large", 100_000
	k.fill(0.5)
	k.window.Compact(window.Ask{})
	k.say("And now?")
	k.ask()
	k.sees(0, 30, true)
}

// If a summary for a larger model is itself too long, and nothing but the last message follows it, the request has a shorter one. This also
// holds if the provider refuses the request and no context window is known.
func TestLongSummary(t *testing.T) {
	long := strings.Repeat("word ", 5000)
	var pins []session.Verbatim
	for i := range 200 {
		text := fmt.Sprintf("Pin %d. %s[[keep]]", i, strings.Repeat("word ", 100))
		pins = append(pins, session.Verbatim{Entry: session.ID(fmt.Sprintf("p%d", i)), Message: llm.UserText(text), Pinned: true})
	}
	for name, summary := range map[string]session.Summarized{
		"text":     {Summary: "## Goal\nThe mill.\n\n## State\n" + long},
		"verbatim": {Summary: "The mill.", Verbatim: []session.Verbatim{{Entry: "e2", Message: llm.UserText(long)}}},
		"pins":     {Summary: "The mill.", Verbatim: pins},
		"files":    {Summary: "The mill.", Context: []session.ContextBlock{{Name: "file /a", Text: long}}},
	} {
		for how, next := range map[string]func(*talk){
			"known": func(k *talk) {
				k.header.Model.Context = 2000
				k.ask()
				k.fits()
			},
			"refused": func(k *talk) {
				k.header.Model.Context = 0
				entries, err := k.window.Overflow(t.Context(), k.path, k.header, &llm.Error{Kind: llm.KindContextOverflow})
				if err != nil {
					t.Fatal(err)
				}
				k.append(entries...)
				k.ask()
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				k := newTalk(t, window.Options{})
				defer k.window.Close()
				k.loose = true
				k.say("Begin.")
				summary.Through = k.tip()
				k.append(summary)
				k.say("Go on.")
				k.header.MaxTokens = 0
				next(k)
				if sent := texts(k.last.Messages); !strings.Contains(sent, "The mill.") || !strings.Contains(sent, "Go on.") {
					t.Errorf("the summary and the last message are not in\n%s", sent)
				}
				if notices := strings.Join(k.notices, "\n"); !strings.Contains(notices, "the model sees a short summary of it, and the last message") {
					t.Errorf("no notice of what the model sees: %q", k.notices)
				}
			})
		}
	}
}

// A message of a person between results makes them inseparable from their answer. Then the answer loses its calls with their results,
// however many they are.
func TestAnAnswerWithManyCalls(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.loose = true
	k.say("Begin.")
	k.ask()
	var calls []llm.ToolCall
	for i := range 300 {
		calls = append(calls, llm.ToolCall{ID: fmt.Sprint(i), Name: "shell", Arguments: fmt.Sprintf(`{"n":%d}`, i)})
	}
	k.answer("I look.", calls...)
	for i, c := range calls {
		if i == 150 {
			k.say("Look at the mill.")
		}
		k.append(session.Message{Message: llm.ToolText(c, strings.Repeat("word ", 100), false)})
	}
	k.header.Model.ID, k.header.Model.Context, k.header.MaxTokens = "tiny", 2000, 0
	k.ask()
	k.fits()
	if sent := texts(k.last.Messages); !strings.Contains(sent, "I look.") || !strings.Contains(sent, "Look at the mill.") {
		t.Errorf("the answer and the last message are not in\n%s", sent)
	}
}
