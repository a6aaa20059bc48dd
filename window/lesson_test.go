package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// back lets the model go back to before its last answer, with a lesson.
func (k *talk) back(category, lesson string) {
	k.t.Helper()
	at := len(k.path) - 1
	for ; at > 0; at-- {
		if m, ok := k.path[at].Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			break
		}
	}
	k.append(session.Revert{To: k.path[at-1].ID, Category: category, Lesson: lesson})
	k.ask()
}

// What the model found by the way fades, when it is old or there is more of it; other lessons stay.
func TestFindingsFade(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.say("Find it.")
	long := func(i int) string {
		return fmt.Sprintf("finding %d: ", i) + strings.Repeat("many words about nothing ", 20)
	}
	for i := range 5 {
		k.call("look", fmt.Sprintf(`{"n":%d}`, i), "nothing", `{}`)
		k.back("tangent", long(i))
	}
	k.call("look", `{"n":5}`, "nothing", `{}`)
	k.back("failure", "lesson: "+strings.Repeat("word ", 100))
	view := func() (reduced string) {
		v, err := window.Look(t.Context(), k.path)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range v.Trim(window.Trimming{}) {
			for _, e := range k.path {
				if e.ID == r.Entry {
					name, _, _ := strings.Cut(e.Body.(session.Message).Text()[strings.Index(e.Body.(session.Message).Text(), "finding "):], ":")
					out = append(out, name)
				}
			}
			if !strings.HasPrefix(r.Text, "[An earlier finding, shortened.]\nfinding") || len(r.Text) > 300 {
				t.Errorf("in its place stands %q", r.Text)
			}
		}
		return strings.Join(out, ", ")
	}
	if got := view(); got != "finding 0, finding 1" {
		t.Errorf("beyond the newest three: %s", got)
	}
	for i := range 6 {
		k.call("look", fmt.Sprintf(`{"n":%d}`, 10+i), "something", `{}`)
	}
	if got := view(); got != "finding 0, finding 1, finding 2, finding 3, finding 4" {
		t.Errorf("after six answers: %s", got)
	}
}

// A checkpoint of the model stays word for word however often the conversation is summed up.
func TestCheckpointsStay(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1, KeepTurns: 1})
	defer k.window.Close()
	k.say("Do it in steps.")
	k.call("look", `{}`, "nothing", `{}`)
	k.back("step", "step one is done: the port is 4711")
	for i := range 200 {
		k.call("shell", fmt.Sprintf(`{"command":"look %d"}`, i), strings.Repeat(fmt.Sprintf("line %d of the output\n", i), 80), `{"unknown":true,"exclusive":true}`)
		if !strings.Contains(texts(k.last.Messages), "Checkpoint: step one is done: the port is 4711") {
			t.Fatalf("turn %d: the checkpoint is lost", i)
		}
	}
	digests := 0
	for _, e := range k.path {
		if _, ok := e.Body.(session.Summarized); ok {
			digests++
		}
	}
	if digests < 2 {
		t.Errorf("it was summed up %d times", digests)
	}
}

// What a person says meanwhile is never taken back with the rest.
func TestAPersonSpeaksBeforeTheModelGoesBack(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.say("Do it.")
	to := k.tip()
	k.call("look", `{}`, "nothing", `{}`)
	k.append(session.Revert{To: to, Category: "failure", Lesson: "nowhere"})
	k.append(session.Message{Message: llm.UserText("Wait, look there."), Speaker: session.Speaker{Kind: session.SpeakerPerson}, Source: session.FromSteering})
	k.ask()
	if text := texts(k.last.Messages); !strings.Contains(text, "Wait, look there.") || strings.Contains(text, "nowhere") {
		t.Errorf("got %s", text)
	}
}
